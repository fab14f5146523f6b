#pragma once
#include <memory>

#include "providers/northflank/northflank_wire.hpp"
#include "providers/shell/live_input_provider.hpp"
#include "providers/transport/rest_api.hpp"
#include "providers/transport/shared_socket.hpp"

namespace sandgate {

struct NorthflankSettings {
  std::string api_url = "https://api.northflank.com";
  std::string team, project;  // team empty: the account's own project
  Isolation isolation = Isolation::microvm;  // of the project's cluster
  northflank::CreateRules rules;
  DescriptorLimits limits;
  Secret api_token;
  bool allow_private = false;  // set for the operator's deployments
};

// Northflank's deployment services in one project, one container each, named by our id. Each
// command has its own WebSocket, which carries bytes as base64. File verbs other than transfers are
// shell lines.
class NorthflankProvider : public LiveInputProvider {
 public:
  NorthflankProvider(HttpClient& http, asio::any_io_executor executor, NorthflankSettings settings);

  Descriptor descriptor() const override;
  Resources granted(const Resources& asked) const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;

  Task<LineResult> run(std::string id, std::string line) override;
  // Starts a command and returns its connection. Throws Error(not_found) if the sandbox does not
  // exist.
  Task<std::shared_ptr<SharedSocket>> start(std::string id, const Command& command);

 protected:
  Task<std::unique_ptr<ByteSource>> download(std::string id, std::string path) override;
  Task<void> upload(std::string id, std::string path, ByteSource& bytes) override;

 private:
  std::string project_path() const;
  std::string service_path(const std::string& id) const;
  Task<std::optional<northflank::Box>> box_of(std::string id);
  // Also empty if a service with that name was not made by Sandgate.
  Task<std::optional<northflank::Box>> box_named(std::string sandbox_id);
  Task<std::shared_ptr<SharedSocket>> connect(std::string id, std::string first);

  const NorthflankSettings settings_;
  RestApi api_;
};

}  // namespace sandgate
