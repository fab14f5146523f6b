#pragma once
#include <memory>

#include "providers/runloop_wire.hpp"
#include "providers/shell_files.hpp"

namespace sandgate {

struct RunloopSettings {
  std::string api_url = "https://api.runloop.ai";
  runloop::CreateRules rules;
  DescriptorLimits limits;
  Secret api_key;
  bool allow_private = false;  // an operator's deployment
};

// Runloop's devboxes. They carry our id as their name and in metadata.sandgate_id. Output comes as
// text: bytes that are no UTF-8 are lost on the way. The file verbs but the transfers are shell
// lines.
class RunloopProvider : public Provider, public std::enable_shared_from_this<RunloopProvider> {
 public:
  RunloopProvider(HttpClient& http, asio::any_io_executor executor, RunloopSettings settings);

  Descriptor descriptor() const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;

  Task<FileContent> read_file(std::string id, std::string path, ByteRange range) override;
  Task<FileEntry> write_file(std::string id, std::string path, uint32_t mode,
                             ByteSource& bytes) override;
  Task<FileEntry> stat(std::string id, std::string path) override;
  Task<std::vector<FileEntry>> list_files(std::string id, std::string path, int depth) override;
  Task<FileEntry> make_directory(std::string id, std::string path) override;
  Task<FileEntry> move(std::string id, std::string from, std::string to) override;
  Task<void> remove(std::string id, std::string path, bool recursive) override;

  Task<Keeps> pause(std::string id, Keeps keep) override;
  Task<void> resume(std::string id) override;
  Task<BackendSnapshot> snapshot(std::string id, std::string snapshot_id, Keeps keep,
                                 bool lasting) override;
  Task<std::optional<BackendSnapshot>> find_snapshot(std::string snapshot_id) override;
  Task<void> remove_snapshot(std::string snapshot) override;

  struct Ran {
    int status = 0;
    std::string output;
  };
  // A shell line to its end.
  Task<Ran> run(std::string id, std::string line);
  RestApi& api() { return api_; }
  const asio::any_io_executor& executor() const { return executor_; }

 private:
  Task<std::optional<runloop::Box>> box_of(std::string id);
  // Asks for a change of state and waits until it is there.
  Task<void> turn(std::string id, std::string verb, BackendState state);
  shell::ShellFiles files(const std::string& id);

  const asio::any_io_executor executor_;
  const RunloopSettings settings_;
  RestApi api_;
};

namespace runloop {
std::string box_path(const std::string& id);
}

}  // namespace sandgate
