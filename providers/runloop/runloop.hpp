#pragma once
#include <memory>

#include "providers/runloop/runloop_wire.hpp"
#include "providers/shell/shell_provider.hpp"

namespace sandgate {

struct RunloopSettings {
  std::string api_url = "https://api.runloop.ai";
  runloop::CreateRules rules;
  DescriptorLimits limits;
  Secret api_key;
  bool allow_private = false;  // set for the operator's deployments
};

// Runloop's devboxes. They carry our id as their name and in metadata.sandgate_id. Output is text:
// bytes that are not UTF-8 are lost. File verbs other than transfers are shell lines.
class RunloopProvider : public ShellProvider {
 public:
  RunloopProvider(HttpClient& http, asio::any_io_executor executor, RunloopSettings settings);

  Descriptor descriptor() const override;
  Resources granted(const Resources& asked) const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;

  Task<Keeps> pause(std::string id, Keeps keep) override;
  Task<void> resume(std::string id) override;
  Task<BackendSnapshot> snapshot(std::string id, std::string snapshot_id, Keeps keep,
                                 bool lasting) override;
  Task<std::optional<BackendSnapshot>> find_snapshot(std::string snapshot_id) override;
  Task<void> remove_snapshot(std::string snapshot) override;

  Task<LineResult> run(std::string id, std::string line) override;
  RestApi& api() { return api_; }

 protected:
  Task<std::unique_ptr<ByteSource>> download(std::string id, std::string path) override;
  Task<void> upload(std::string id, std::string path, ByteSource& bytes) override;

 private:
  Task<std::optional<runloop::Box>> box_of(std::string id);
  // Throws Error(not_found) if the sandbox has ended, and Error(conflict) if it is paused.
  Task<void> check_runs(std::string id);
  // Requests a change of state and waits for it.
  Task<void> change_state(std::string id, std::string verb, BackendState state);

  const RunloopSettings settings_;
  RestApi api_;
};

namespace runloop {
std::string box_path(const std::string& id);
}

}  // namespace sandgate
