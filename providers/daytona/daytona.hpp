#pragma once
#include <memory>

#include "providers/daytona/daytona_wire.hpp"
#include "providers/sandbox_data_cache.hpp"
#include "providers/shell/shell_provider.hpp"
#include "providers/transport/web_socket.hpp"

namespace sandgate {

struct DaytonaSettings {
  std::string api_url = "https://app.daytona.io/api";
  daytona::CreateRules rules;
  DescriptorLimits limits;
  bool process_limit = false;  // set by the operator if the account's containers have one
  Secret api_key;
  bool allow_private = false;  // set for the operator's deployments
};

// Daytona's 0.x API. Sandboxes carry our id as their unique name and as the label sandgate_id. Each
// command has a session of its own, whose log is followed over a WebSocket. File verbs other than
// transfers are shell lines.
class DaytonaProvider : public ShellProvider {
 public:
  DaytonaProvider(HttpClient& http, asio::any_io_executor executor, DaytonaSettings settings);

  Descriptor descriptor() const override;
  Resources granted(const Resources& asked) const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;

  Task<Keeps> pause(std::string id, Keeps keep) override;
  Task<void> resume(std::string id) override;

  Task<void> extend(std::string id, std::chrono::seconds ttl) override;

  // Returns a client for a sandbox's toolbox. Throws Error(not_found) if there is no such sandbox.
  Task<RestApi> toolbox(std::string id);
  Task<LineResult> run(std::string id, std::string line) override;
  // Opens a WebSocket of the toolbox.
  Task<std::unique_ptr<WebSocket>> follow(std::string id, std::string path);

 protected:
  Task<std::unique_ptr<ByteSource>> download(std::string id, std::string path) override;
  Task<void> upload(std::string id, std::string path, ByteSource& bytes) override;

 private:
  Task<daytona::Box> wait_until_started(daytona::Box box);
  Task<std::optional<daytona::Box>> box_of(std::string id_or_name);
  // Also empty if a sandbox with that name was not made by Sandgate.
  Task<std::optional<daytona::Box>> box_named(std::string sandbox_id);
  Task<void> wait_for_state(std::string id, BackendState state);
  // Requests a change of state and waits for it.
  Task<void> change_state(std::string id, std::string verb, BackendState state);
  Task<std::string> toolbox_url(std::string id);
  void remember(const daytona::Box& box);

  HttpClient& http_;
  const DaytonaSettings settings_;
  RestApi api_;
  SandboxDataCache<std::string> toolboxes_;  // base URLs
};

}  // namespace sandgate
