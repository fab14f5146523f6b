#pragma once
#include <signal.h>

#include <memory>
#include <vector>

#include "billing/budget_store.hpp"
#include "billing/budgets.hpp"
#include "billing/invoices.hpp"
#include "billing/meter.hpp"
#include "billing/price_books.hpp"
#include "billing/usage_reader.hpp"
#include "gateway/api/audit.hpp"
#include "gateway/api/budgets.hpp"
#include "gateway/api/decisions.hpp"
#include "gateway/api/deployments.hpp"
#include "gateway/api/events.hpp"
#include "gateway/api/exec.hpp"
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
#include "gateway/app/start_gate.hpp"
#include "gateway/compat/e2b/surface.hpp"
#include "gateway/compat/mcp/handlers.hpp"
#include "gateway/config/config.hpp"
#include "gateway/core/anchored_clock.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/database.hpp"
#include "gateway/core/notifications.hpp"
#include "gateway/events/event_bell.hpp"
#include "gateway/events/event_log.hpp"
#include "gateway/events/webhook_sender.hpp"
#include "gateway/events/webhook_store.hpp"
#include "gateway/exports/export_runner.hpp"
#include "gateway/http/authentication.hpp"
#include "gateway/http/database_idempotency.hpp"
#include "gateway/http/dispatch.hpp"
#include "gateway/http/http_metrics.hpp"
#include "gateway/http/server.hpp"
#include "gateway/http/tenant_admission.hpp"
#include "gateway/placement/deployments.hpp"
#include "gateway/placement/health_board.hpp"
#include "gateway/placement/shared_breakers.hpp"
#include "gateway/ports/port_gate.hpp"
#include "gateway/sandboxes/budget_enforcer.hpp"
#include "gateway/sandboxes/budget_guard.hpp"
#include "gateway/sandboxes/cached_access.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/reaper.hpp"
#include "gateway/sandboxes/reconciler.hpp"
#include "gateway/sandboxes/secret_keeper.hpp"
#include "gateway/sandboxes/usage_sampler.hpp"
#include "local/local_provider.hpp"
#include "providers/curl_client.hpp"
#include "registry/profile_resolver.hpp"

namespace sandgate {

// The gateway: every object it is made of, in the order they need each other. Reading the members
// tells what runs.
class Gateway {
 public:
  explicit Gateway(const Config& config);

  // Listens, waits for the database, migrates, loads what is cached, and works until SIGTERM or
  // SIGINT; SIGHUP reads certificates and cached tables again. Call before any other thread exists:
  // it blocks the signals. Ends the process with exit code 0 when told to stop.
  [[noreturn]] void run();

 private:
  DeploymentSet fixed_deployments() const;
  std::shared_ptr<Provider> make_provider(const DeploymentRow& row);
  api::DeploymentHandlers::Rules deployment_rules();
  api::OperationsSources operations();
  api::PortHandlers::Settings port_settings() const;
  compat::e2b::Surface::Parts e2b_parts();
  ports::PortGate::Settings gate_settings() const;
  compat::mcp::Handlers::Settings mcp_settings() const;

  void add_routes();
  void subscribe();
  void listen();
  bool prepare(const sigset_t& signals);
  bool prepare_once();
  void start();
  void ask_node();
  void start_background_work();
  void start_forgetting();
  void start_events();
  void tell_breaker(const DeploymentKey& deployment, Breaker breaker);
  http::ServerOptions server_options() const;
  void listen_for_e2b();
  void reload();
  Task<void> anchor_clock();
  Task<void> settle_outage();
  void render_metrics(MetricText& out) const;
  template <class T>
  T wait(Task<T> task);

  const Config config_;
  const std::string machine_;  // which of the gateways of one database this is
  AnchoredClock clock_;
  http::IoThreads io_;
  Database database_;
  Notifications notifications_;
  Vault vault_;

  TenantStore tenants_;
  TenantDirectory tenant_directory_;
  KeyStore keys_;
  ProfileStore profiles_;
  ProfileResolver profile_resolver_;
  DeploymentStore deployment_rows_;
  SecretStore secrets_;
  PriceBooks prices_;
  Meter meter_;
  UsageReader usage_;
  BudgetStore budget_rows_;
  Budgets budgets_;
  Invoices invoices_;
  ExportStore export_rows_;

  CurlClient curl_;
  ExportRunner exports_;
  std::shared_ptr<LocalProvider> local_;  // null when this machine offers no sandboxes
  Deployments deployments_;
  HealthBoard health_;
  SharedBreakers breakers_;
  BudgetGuard spend_;
  SandboxCache sandbox_cache_;
  std::shared_ptr<Activity> activity_;
  OutageJournal outage_;
  Lifecycle lifecycle_;
  UsageSampler sampler_;
  BudgetEnforcer budget_enforcer_;
  Reaper reaper_;
  Reconciler reconciler_;
  SecretKeeper secret_keeper_;
  Pausing pausing_;
  CachedAccess access_;
  ports::PortStore ports_;
  ports::AppPool app_pool_;

  EventLog event_log_;
  EventBell event_bell_;
  WebhookStore webhooks_;
  WebhookSender webhook_sender_;

  http::KeyAuthenticator authenticator_;
  http::TenantAdmission admission_;
  http::BodyRoom body_room_;
  http::DatabaseIdempotency idempotency_;
  api::AuditHandlers audit_api_;
  api::TenantHandlers tenants_api_;
  api::KeyHandlers keys_api_;
  api::ProfileHandlers profiles_api_;
  api::DeploymentHandlers deployments_api_;
  api::PriceHandlers prices_api_;
  api::UsageHandlers usage_api_;
  api::BudgetHandlers budgets_api_;
  api::ExportHandlers exports_api_;
  api::LedgerHandlers ledger_api_;
  api::InvoiceHandlers invoices_api_;
  api::ReconciliationHandlers reconciliations_api_;
  api::SandboxHandlers sandboxes_api_;
  api::PausingHandlers pausing_api_;
  api::SnapshotHandlers snapshots_api_;
  api::NetworkHandlers network_api_;
  api::SecretHandlers secrets_api_;
  api::DecisionHandlers decisions_api_;
  api::SimulationHandlers simulation_api_;
  api::ProviderHandlers providers_api_;
  api::ExecHandlers exec_api_;
  api::ProcessHandlers processes_api_;
  api::TerminalHandlers terminal_api_;
  api::FileHandlers files_api_;
  api::EventHandlers events_api_;
  api::WebhookHandlers webhooks_api_;
  api::PortHandlers ports_api_;
  compat::mcp::Sessions mcp_sessions_;
  compat::mcp::Handlers mcp_;
  api::OperationsHandlers operations_api_;
  compat::e2b::Surface e2b_;
  http::Routes routes_;
  std::unique_ptr<http::HttpMetrics> metrics_;
  std::unique_ptr<http::Dispatcher> dispatcher_;
  std::unique_ptr<ports::PortGate> port_gate_;
  std::unique_ptr<StartGate> start_gate_, e2b_gate_;
  std::unique_ptr<http::Responder> door_, e2b_door_;  // before the gates, by listener
  std::unique_ptr<http::Server> server_, e2b_server_;  // the second may be null
};

}  // namespace sandgate
