#pragma once
#include "gateway/api/audit.hpp"
#include "gateway/api/budgets.hpp"
#include "gateway/api/decisions.hpp"
#include "gateway/api/deployments.hpp"
#include "gateway/api/events.hpp"
#include "gateway/api/exec.hpp"
#include "gateway/api/existence_check.hpp"
#include "gateway/api/exports.hpp"
#include "gateway/api/files.hpp"
#include "gateway/api/invoices.hpp"
#include "gateway/api/keys.hpp"
#include "gateway/api/ledger.hpp"
#include "gateway/api/network.hpp"
#include "gateway/api/operations.hpp"
#include "gateway/api/pausing.hpp"
#include "gateway/api/ports.hpp"
#include "gateway/api/prices.hpp"
#include "gateway/api/processes.hpp"
#include "gateway/api/profiles.hpp"
#include "gateway/api/providers.hpp"
#include "gateway/api/reconciliations.hpp"
#include "gateway/api/sandboxes.hpp"
#include "gateway/api/secrets.hpp"
#include "gateway/api/simulation.hpp"
#include "gateway/api/snapshots.hpp"
#include "gateway/api/tenants.hpp"
#include "gateway/api/terminal.hpp"
#include "gateway/api/usage.hpp"
#include "gateway/api/webhooks.hpp"
#include "gateway/app/events.hpp"
#include "gateway/app/middleware.hpp"
#include "gateway/app/sandboxes.hpp"
#include "gateway/compat/e2b/surface.hpp"
#include "gateway/compat/mcp/handlers.hpp"

namespace sandgate {

// Everything with a route: the resources and operations of the v1 API, MCP, and the E2B-compatible
// API. To add a resource, add a member here and its dependencies in the constructor.
class Api {
 public:
  // Functions of the layers above, which exist only after the API. Called only while serving.
  struct Callbacks {
    std::function<Task<http::Response>(http::Request&)> subrequest;  // see Dispatcher::subrequest
    std::function<void(MetricText&)> metrics;  // of the whole gateway
  };
  // All references must outlive this object.
  Api(Foundation& foundation, Registry& registry, Accounting& accounting, Backends& backends,
      Sandboxes& sandboxes, Events& events, Middleware& middleware, Callbacks callbacks);

  // Starts background work.
  void start();

  const http::Routes& routes() const { return routes_; }  // complete after construction
  http::ExistenceCheck& existence_check() { return existence_check_; }
  const http::QueryNames& query_names() const { return query_names_; }
  compat::e2b::Surface& e2b() { return e2b_; }

 private:
  void add_routes();

  Foundation& foundation_;
  api::AuditHandlers audit_;
  api::TenantHandlers tenants_;
  api::KeyHandlers keys_;
  api::ProfileHandlers profiles_;
  api::DeploymentHandlers deployments_;
  api::PriceHandlers prices_;
  api::UsageHandlers usage_;
  api::BudgetHandlers budgets_;
  api::ExportHandlers exports_;
  api::LedgerHandlers ledger_;
  api::InvoiceHandlers invoices_;
  api::ReconciliationHandlers reconciliations_;
  api::SandboxHandlers sandboxes_;
  api::PausingHandlers pausing_;
  api::SnapshotHandlers snapshots_;
  api::NetworkHandlers network_;
  api::SecretHandlers secrets_;
  api::DecisionHandlers decisions_;
  api::SimulationHandlers simulation_;
  api::ProviderHandlers providers_;
  api::ExecHandlers exec_;
  api::ProcessHandlers processes_;
  api::TerminalHandlers terminal_;
  api::FileHandlers files_;
  api::EventHandlers events_;
  api::WebhookHandlers webhooks_;
  api::PortHandlers ports_;
  api::ExistenceCheck existence_check_;
  compat::mcp::Sessions mcp_sessions_;
  compat::mcp::RunningCalls mcp_calls_;
  compat::mcp::Handlers mcp_;
  api::OperationsHandlers operations_;
  compat::e2b::Surface e2b_;
  http::Routes routes_;
  http::QueryNames query_names_;
};

}  // namespace sandgate
