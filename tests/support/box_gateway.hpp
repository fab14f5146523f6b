#pragma once
#include <set>

#include "gateway/api/exec.hpp"
#include "gateway/api/files.hpp"
#include "gateway/api/processes.hpp"
#include "tests/support/process_provider.hpp"
#include "tests/support/route_client.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {

// A gateway's sandbox routes over one ProcessProvider, without storage, placement or sockets: the
// real exec, process and file handlers and a stub of the sandbox routes.
class BoxGateway : public SandboxAccess {
  http::Routes routes_;  // first: client refers to it

 public:
  explicit BoxGateway(asio::any_io_executor executor);

  Task<OpenSandbox> open(const http::Caller& caller, std::string_view id, Verb verb) override;
  Task<Error> translate_failure(TenantId tenant, SandboxId id, Error failure) override;
  Task<bool> is_paused(TenantId tenant, SandboxId id) override;
  Task<void> report_gone(SandboxId id, std::string detail) override;

  // Creates a sandbox and returns its API id.
  Task<std::string> make_box(CreateSpec spec);

  std::shared_ptr<ProcessProvider> provider;
  std::vector<std::string> gone;
  RouteClient client;

 private:
  void add_sandbox_routes();
  void add_state_routes();
  void add_snapshot_routes();
  void add_route(http::Method method, std::string pattern, http::Handler handler);
  Json document_of(const std::string& id) const;

  TempDirectory directory_;
  api::ExecHandlers exec_;
  api::ProcessHandlers processes_;
  api::FileHandlers files_;
  std::map<std::string, Json> metadata_;  // by id
  std::set<std::string> paused_;
  std::map<std::string, Json> snapshots_;  // by id
};

}  // namespace sandgate::test
