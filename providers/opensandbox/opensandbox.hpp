#pragma once
#include <memory>

#include "providers/opensandbox/opensandbox_wire.hpp"
#include "providers/shell/live_input_provider.hpp"
#include "providers/transport/web_socket.hpp"

namespace sandgate {

struct OpenSandboxSettings {
  std::string api_url;  // includes the version, "https://host/v1"
  std::string sandbox_scheme;  // http or https, for addresses of endpoints
  bool use_server_proxy = false;  // reach sandboxes through the server
  opensandbox::BoxRules rules;
  bool process_limit = false, disk_limit = false;  // the server enforces them
  DescriptorLimits limits;
  Secret api_key;
  bool allow_private = false;  // set for the operator's deployments
};

// An OpenSandbox server. Sandboxes carry our id in metadata.sandgate_id; operations inside one go
// to its execd. A command is a pipe session of execd's terminals, which has stdin and is binary
// safe. Its text is sent over stdin. Its output ends with an EndMark, because execd may report an
// exit before the last output.
class OpenSandboxProvider : public LiveInputProvider {
 public:
  OpenSandboxProvider(HttpClient& http, asio::any_io_executor executor,
                      OpenSandboxSettings settings);

  Descriptor descriptor() const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;

  Task<Keeps> pause(std::string id, Keeps keep) override;
  Task<void> resume(std::string id) override;
  Task<BackendSnapshot> snapshot(std::string id, std::string snapshot_id, Keeps keep,
                                 bool lasting) override;
  Task<std::optional<BackendSnapshot>> find_snapshot(std::string snapshot_id) override;
  Task<void> remove_snapshot(std::string snapshot) override;

  Task<void> extend(std::string id, std::chrono::seconds ttl) override;

  Task<LineResult> run(std::string id, std::string line) override;
  // Returns a client for a sandbox's execd. Throws Error(not_found) if there is no such sandbox.
  Task<RestApi> execd(std::string id);
  // Opens a WebSocket of execd.
  Task<std::unique_ptr<WebSocket>> attach(std::string id, std::string path);

 protected:
  Task<std::unique_ptr<ByteSource>> download(std::string id, std::string path) override;
  Task<void> upload(std::string id, std::string path, ByteSource& bytes) override;

 private:
  Task<std::optional<opensandbox::Box>> box_of(std::string id);
  Task<std::vector<BackendSandbox>> pages(std::string query);
  Task<void> wait_until_running(std::string id);
  // Asks the server each time: the address of a sandbox that ended, or was resumed by another
  // replica, may belong to another sandbox by now.
  Task<opensandbox::Endpoint> endpoint_of(std::string id);
  // Returns a failed snapshot only if there is no other one of that name.
  Task<std::optional<opensandbox::Snapshot>> named_snapshot(std::string snapshot_id);
  // Requests a change of state and waits for it.
  Task<void> change_state(std::string id, std::string verb, BackendState state);

  HttpClient& http_;
  const OpenSandboxSettings settings_;
  RestApi api_;
};

namespace opensandbox {
std::string box_path(const std::string& id);
}

}  // namespace sandgate
