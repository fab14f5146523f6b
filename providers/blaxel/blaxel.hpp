#pragma once
#include <memory>

#include "providers/blaxel/blaxel_wire.hpp"
#include "providers/sandbox_data_cache.hpp"
#include "providers/shell/shell_provider.hpp"

namespace sandgate {

struct BlaxelSettings {
  std::string api_url = "https://api.blaxel.ai/v0";
  std::string workspace;
  blaxel::CreateRules rules;
  DescriptorLimits limits;
  Secret api_key;
  bool allow_private = false;  // set for the operator's deployments
};

// Blaxel's sandboxes, named by our id. Each has a server of its own, whose address the control
// plane tells. An idle sandbox is suspended with its memory, and a call wakes it. File verbs other
// than transfers are shell lines.
class BlaxelProvider : public ShellProvider {
 public:
  BlaxelProvider(HttpClient& http, asio::any_io_executor executor, BlaxelSettings settings);

  Descriptor descriptor() const override;
  Resources granted(const Resources& asked) const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;
  Task<void> write_stdin(std::string id, std::string process, std::string bytes) override;
  Task<void> close_stdin(std::string id, std::string process) override;

  Task<Keeps> pause(std::string id, Keeps keep) override;
  Task<void> resume(std::string id) override;
  // Throws Error(unsupported) unless the deployment's settings enable snapshots.
  Task<BackendSnapshot> snapshot(std::string id, std::string snapshot_id, Keeps keep,
                                 bool lasting) override;
  Task<std::optional<BackendSnapshot>> find_snapshot(std::string snapshot_id) override;
  Task<void> remove_snapshot(std::string snapshot) override;

  Task<void> extend(std::string id, std::chrono::seconds ttl) override;

  // Returns a client for a sandbox's server. Throws Error(not_found) if there is no such sandbox.
  Task<RestApi> inside(std::string id);
  Task<LineResult> run(std::string id, std::string line) override;

 protected:
  Task<std::unique_ptr<ByteSource>> download(std::string id, std::string path) override;
  Task<void> upload(std::string id, std::string path, ByteSource& bytes) override;

 private:
  // The vendor's record of a sandbox, which outlives it.
  Task<std::optional<blaxel::Box>> record_of(std::string name);
  // Empty also if only the record of an ended sandbox is left.
  Task<std::optional<blaxel::Box>> box_of(std::string name);
  // Waits until the accepted sandbox runs, also for its record if `box` is empty; removes one that
  // fails.
  Task<BackendSandbox> wait_until_started(std::string name, std::optional<blaxel::Box> box);
  Task<std::string> url_of(std::string id);
  Task<std::optional<blaxel::Snapshot>> named_snapshot(std::string snapshot_id);
  // Waits until the snapshot can be restored.
  Task<BackendSnapshot> wait_until_finished(blaxel::Snapshot snapshot);
  // Requests a change of state and waits for it.
  Task<void> change_state(std::string id, std::string verb, bool archived);

  HttpClient& http_;
  const BlaxelSettings settings_;
  RestApi api_;
  SandboxDataCache<std::string> urls_;
};

namespace blaxel {
std::string box_path(const std::string& id);
std::string snapshot_path(const std::string& id);
}  // namespace blaxel

}  // namespace sandgate
