#pragma once
#include <memory>
#include <string>

#include "providers/provider.hpp"
#include "providers/shell_files.hpp"

namespace sandgate {

// The base of backends whose sandboxes are other people's machines with a shell: what the vendor
// has no call for is done by lines of the shell. An adapter gives run() and overrides what its
// vendor does better.
class ShellProvider : public Provider, public std::enable_shared_from_this<ShellProvider> {
 public:
  // Searches list(); for vendors that cannot be asked for a label.
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;

  // By a line of the shell, where the descriptor declares it.
  Task<void> signal(std::string id, std::string process, int number) override;

  Task<FileContent> read_file(std::string id, std::string path, ByteRange range) override;
  Task<FileEntry> write_file(std::string id, std::string path, uint32_t mode,
                             ByteSource& bytes) override;
  Task<FileEntry> stat(std::string id, std::string path) override;
  Task<std::vector<FileEntry>> list_files(std::string id, std::string path, int depth) override;
  Task<FileEntry> make_directory(std::string id, std::string path) override;
  Task<FileEntry> move(std::string id, std::string from, std::string to) override;
  Task<void> remove(std::string id, std::string path, bool recursive) override;

  struct Ran {
    int status = 0;
    std::string output;  // stdout; text at least, which is all that the lines of ours print
  };
  // Takes a process's stdout, of which kMaxPrinted bytes are kept, and its exit code.
  static Task<Ran> read_to_end(ProcessStream& process);
  static constexpr size_t kMaxPrinted = 16 << 20;
  // A line for /bin/sh, run in the account's home to its end, which comes within a minute. Lines
  // are up to 100 KiB long.
  virtual Task<Ran> run(std::string id, std::string line) = 0;

  // What a command left behind (shell::leaving_status), once it has ended; Error(unavailable) when
  // it left nothing.
  Task<int> left_status(std::string id, std::string name);

  const asio::any_io_executor& executor() const { return executor_; }

 protected:
  explicit ShellProvider(asio::any_io_executor executor) : executor_(std::move(executor)) {}

  // The bytes of a file, from its beginning, and a new file from bytes; paths are from the root.
  // Unless overridden, in base64 by pieces of one line each.
  virtual Task<std::unique_ptr<ByteSource>> download(std::string id, std::string path);
  virtual Task<void> upload(std::string id, std::string path, ByteSource& bytes);

  // Whether a line runs there, for vendors that tell of a sandbox no other way.
  Task<bool> answers(std::string id);

  // Throws Error(invalid, "/cwd") when the command names a directory that is not there.
  Task<void> check_directory(std::string id, const Command& command);

  // find() of adapters that read a vendor's document into a Box, which has a sandbox.
  template <class Box>
  static Task<std::optional<BackendSandbox>> sandbox_of(Task<std::optional<Box>> finding) {
    auto box = co_await std::move(finding);
    if (!box) co_return std::nullopt;
    co_return std::move(box->sandbox);
  }

  // exec() and run() of adapters whose commands are of a class of their own, which is made of the
  // adapter, the sandbox and the command, and runs after start().
  template <class Process, class Adapter>
  Task<std::unique_ptr<Process>> start_process(std::string id, Command command) {
    auto process = std::make_unique<Process>(self<Adapter>(), std::move(id), std::move(command));
    co_await process->start();
    co_return process;
  }
  template <class Process, class Adapter>
  Task<Ran> run_process(std::string id, std::string line) {
    Command command{.shell = std::move(line), .timeout = std::chrono::seconds(60)};
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
