#pragma once
#include <memory>
#include <string>

#include "providers/provider.hpp"
#include "providers/shell/line_limits.hpp"
#include "providers/shell/shell_files.hpp"

namespace sandgate {

// Base class for vendors whose sandboxes have a shell. Functions that the vendor's API lacks are
// implemented as shell lines. An adapter implements run() and overrides what its API does better.
class ShellProvider : public Provider, public std::enable_shared_from_this<ShellProvider> {
 public:
  // Searches list(), for vendors that cannot be searched by label.
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;

  // Sent as a shell line if the descriptor declares the verb.
  Task<void> signal(std::string id, std::string process, int number) override;

  Task<FileContent> read_file(std::string id, std::string path, ByteRange range) override;
  Task<FileEntry> write_file(std::string id, std::string path, uint32_t mode,
                             ByteSource& bytes) override;
  Task<FileEntry> stat(std::string id, std::string path) override;
  Task<std::vector<FileEntry>> list_files(std::string id, std::string path, int depth) override;
  Task<FileEntry> make_directory(std::string id, std::string path) override;
  Task<FileEntry> move(std::string id, std::string from, std::string to) override;
  Task<void> remove(std::string id, std::string path, bool recursive) override;

  struct LineResult {
    int status = 0;
    // From stdout. Only text is guaranteed to arrive intact, which is all that our lines print.
    std::string output;
  };
  // Collects the stdout of a process, up to kMaxPrinted bytes, and its exit code.
  static Task<LineResult> read_to_end(ProcessStream& process);
  static constexpr size_t kMaxPrinted = 16 << 20;
  // The same, while a file is written to the process's stdin, which is closed after it. Throws
  // Error(invalid) if the process fails, also before it has taken all of the file.
  static Task<void> feed_to_end(ProcessStream& process, ByteSource& file);
  // Runs a line of up to 100 KiB with /bin/sh in the account's home, for at most shell::kLineTime.
  virtual Task<LineResult> run(std::string id, std::string line) = 0;

  // Returns the exit status that shell::storing_status stored, once the command has ended. Throws
  // Error(unavailable) if there is none.
  Task<int> stored_status(std::string id, std::string name);

  const asio::any_io_executor& executor() const { return executor_; }

 protected:
  explicit ShellProvider(asio::any_io_executor executor) : executor_(std::move(executor)) {}

  // Reads a file from its start, or creates one; paths are absolute. The default implementation
  // transfers base64 in pieces, one shell line each.
  virtual Task<std::unique_ptr<ByteSource>> download(std::string id, std::string path);
  virtual Task<void> upload(std::string id, std::string path, ByteSource& bytes);

  // Throws Error(invalid) if what was to write a file failed.
  static void check_written(const LineResult& ran);

  // Awaits the line that sets up a sandbox whose create was accepted. If the line does not end with
  // status 0, kills the sandbox and throws what create() has to throw (see abort_create()): the
  // line's own error, or Error(no_capacity) with the message `refusal`, a literal.
  Task<void> set_up(std::string id, Task<LineResult> line, const char* refusal);

  // Whether the sandbox runs a line, for vendors that offer no other check.
  Task<bool> is_responsive(std::string id);

  // Throws Error(invalid, "/user") if the command names an account, for vendors that run all
  // commands as one.
  void refuse_account(const Command& command) const;

  // Throws Error(invalid, "/cwd") if the command's directory does not exist.
  Task<void> check_directory(std::string id, const Command& command);

  // Implements find() for adapters that parse a vendor's document into a Box with a sandbox.
  template <class Box>
  static Task<std::optional<BackendSandbox>> sandbox_of(Task<std::optional<Box>> finding) {
    auto box = co_await std::move(finding);
    if (!box) co_return std::nullopt;
    co_return std::move(box->sandbox);
  }

  // What was found of a sandbox. Throws Error(not_found) if there is no such one.
  template <class Box>
  static Task<Box> existing(Task<std::optional<Box>> finding, std::string id) {
    auto box = co_await std::move(finding);
    if (!box) throw Error::not_found("sandbox", id);
    co_return std::move(*box);
  }

  // What was found under the name `sandbox_id`. Empty if it does not also carry that id as its tag:
  // somebody else gave the name to something of theirs.
  template <class Box>
  static Task<std::optional<Box>> only_tagged(Task<std::optional<Box>> finding,
                                              std::string sandbox_id) {
    auto box = co_await std::move(finding);
    if (!box || box->sandbox.sandbox_id != sandbox_id) co_return std::nullopt;
    co_return box;
  }

  // Implement exec() and run() for adapters with a Process class, which is constructed from the
  // adapter, the sandbox and the command and started by start().
  template <class Process, class Adapter>
  Task<std::unique_ptr<Process>> start_process(std::string id, Command command) {
    auto process = std::make_unique<Process>(self<Adapter>(), std::move(id), std::move(command));
    co_await process->start();
    co_return process;
  }
  template <class Process, class Adapter>
  Task<LineResult> run_process(std::string id, std::string line) {
    Command command{.shell = std::move(line), .timeout = shell::kLineTime};
    auto process = co_await start_process<Process, Adapter>(std::move(id), std::move(command));
    co_return co_await read_to_end(*process);
  }

  template <class Adapter>
  std::shared_ptr<Adapter> self() {
    return std::static_pointer_cast<Adapter>(shared_from_this());
  }

 private:
  shell::ShellFiles files(const std::string& id);
  Task<void> signal_by_line(std::string id, std::string process, int number);

  const asio::any_io_executor executor_;
};

}  // namespace sandgate
