#pragma once
#include <memory>

#include "providers/blaxel_wire.hpp"
#include "providers/known_sandboxes.hpp"
#include "providers/shell_provider.hpp"

namespace sandgate {

struct BlaxelSettings {
  std::string api_url = "https://api.blaxel.ai/v0";
  std::string workspace;
  blaxel::CreateRules rules;
  DescriptorLimits limits;
  Secret api_key;
  bool allow_private = false;  // an operator's deployment
};

// Blaxel's sandboxes, whose name is our id. Each has a server of its own at an address that the
// control plane tells; it falls asleep, memory and all, when nobody is connected, and a call wakes
// it. The file verbs but the transfers are shell lines.
class BlaxelProvider : public ShellProvider {
 public:
  BlaxelProvider(HttpClient& http, asio::any_io_executor executor, BlaxelSettings settings);

  Descriptor descriptor() const override;
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
  // Where the deployment says that there are any.
  Task<BackendSnapshot> snapshot(std::string id, std::string snapshot_id, Keeps keep,
                                 bool lasting) override;
  Task<std::optional<BackendSnapshot>> find_snapshot(std::string snapshot_id) override;
  Task<void> remove_snapshot(std::string snapshot) override;

  Task<void> extend(std::string id, std::chrono::seconds ttl) override;

  // The server in one sandbox; Error(not_found) when the sandbox is not there.
  Task<RestApi> inside(std::string id);
  Task<Ran> run(std::string id, std::string line) override;

 protected:
  Task<std::unique_ptr<ByteSource>> download(std::string id, std::string path) override;
  Task<void> upload(std::string id, std::string path, ByteSource& bytes) override;

 private:
  Task<std::optional<blaxel::Box>> box_of(std::string name);
  Task<BackendSandbox> started(std::optional<blaxel::Box> box);
  Task<std::string> url_of(std::string id);
  Task<blaxel::Snapshot> take_snapshot(std::string id, std::string snapshot_id);
  // Asks for a change of state and waits until it is there.
  Task<void> turn(std::string id, std::string verb, bool archived);

  HttpClient& http_;
  const BlaxelSettings settings_;
  RestApi api_;
  KnownSandboxes<std::string> urls_;
};

namespace blaxel {
std::string box_path(const std::string& id);
std::string snapshot_path(const std::string& id);
}  // namespace blaxel

}  // namespace sandgate
