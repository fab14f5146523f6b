#include "gateway/app/api.hpp"

#include "gateway/api/openapi_document.hpp"
#include "gateway/app/background.hpp"
#include "providers/catalog.hpp"

namespace sandgate {
namespace {

api::DeploymentHandlers::Rules deployment_rules(Backends& backends) {
  api::DeploymentHandlers::Rules rules;
  for (const ProviderKind& kind : provider_kinds()) rules.providers.push_back(kind.name);
  rules.validate = [&backends](const DeploymentRow& row, Problems& problems) {
    backends.check(row, problems);
  };
  rules.take_up = [&backends](DeploymentKey key) {
    return backends.deployments.wait_ready(std::move(key));
  };
  return rules;
}

api::PortHandlers::Settings port_settings(const Foundation& foundation) {
  return {.domain = foundation.config.ports.domain,
          .tls = !foundation.config.tls.certificate.empty()};
}

api::OperationsSources operations_of(Database& database, const Deployments& deployments,
                                     std::function<void(MetricText&)> metrics) {
  api::OperationsSources sources;
  sources.version = SANDGATE_VERSION;
  sources.database_answers = [&database]() -> Task<bool> {
    auto ask = database.run([](pqxx::work& tx) {
      return tx.exec1("SELECT current_setting('transaction_read_only') = 'off'")[0].as<bool>();
    });
    const auto outcome = co_await attempt(std::move(ask));
    if (!std::holds_alternative<bool>(outcome) || !std::get<bool>(outcome)) co_return false;
    co_return co_await database.has_disk_space();
  };
  sources.has_deployment = [&deployments]() -> Task<bool> {
    const auto set = deployments.snapshot();
    for (const auto& deployment : *set)
      if (deployment->enabled && !deployment->descriptor.verbs.empty()) co_return true;
    co_return false;
  };
  sources.metrics = std::move(metrics);
  return sources;
}

}  // namespace

Api::Api(Foundation& foundation, Registry& registry, Accounting& accounting, Backends& backends,
         Sandboxes& sandboxes, Events& events, Middleware& middleware, Callbacks callbacks)
    : foundation_(foundation),
      audit_(foundation.database),
      tenants_(registry.tenants),
      keys_(registry.keys, foundation.clock),
      profiles_(registry.profiles, registry.profile_resolver,
                [&backends, &accounting, &foundation](const Profile& profile,
                                                      const std::optional<TenantId>& owner) {
                  return placement_warnings(profile, owner, *backends.deployments.snapshot(),
                                            *accounting.prices.snapshot(), foundation.clock.now());
                }),
      deployments_(backends.rows, deployment_rules(backends)),
      prices_(accounting.prices, foundation.database, accounting.usage, foundation.clock),
      usage_(foundation.database, accounting.usage),
      budgets_(accounting.budget_rows, accounting.usage),
      exports_(accounting.export_rows),
      ledger_(accounting.usage),
      invoices_(accounting.invoices, accounting.usage, foundation.config.billing.issuer),
      reconciliations_(foundation.database, accounting.usage, backends.deployments),
      sandboxes_(sandboxes.lifecycle, registry.profile_resolver),
      pausing_(sandboxes.pausing),
      snapshots_(sandboxes.lifecycle, registry.profile_resolver),
      network_(sandboxes.lifecycle, registry.profile_resolver),
      secrets_(registry.secrets),
      decisions_(sandboxes.lifecycle, registry.profile_resolver),
      simulation_(sandboxes.lifecycle, registry.profile_resolver),
      providers_(sandboxes.lifecycle, registry.profile_resolver),
      exec_(sandboxes.access, &middleware.body_memory, &foundation.database),
      processes_(sandboxes.access),
      terminal_(sandboxes.access),
      files_(sandboxes.access),
      events_(events.log, events.notifier,
              [&lifecycle = sandboxes.lifecycle](TenantId tenant, SandboxId id) -> Task<void> {
                co_await lifecycle.get(tenant, id);
              }),
      webhooks_(events.webhooks, foundation.config.webhooks.allow_private),
      ports_(sandboxes.access, sandboxes.lifecycle, sandboxes.ports, port_settings(foundation)),
      existence_check_({sandboxes.lifecycle, registry.tenants, registry.keys, accounting.invoices}),
      mcp_sessions_(foundation.database, sandboxes.lifecycle),
      mcp_calls_(foundation.database, foundation.notifications),
      mcp_(mcp_sessions_, mcp_calls_, std::move(callbacks.subrequest),
           {foundation.config.mcp.profile, foundation.config.mcp.origins, SANDGATE_VERSION}),
      operations_(
          operations_of(foundation.database, backends.deployments, std::move(callbacks.metrics))),
      e2b_({.database = foundation.database,
            .lifecycle = sandboxes.lifecycle,
            .profiles = registry.profile_resolver,
            .sandboxes = sandboxes_,
            .pausing = sandboxes.pausing,
            .snapshots = snapshots_,
            .network = network_,
            .ports = sandboxes.ports,
            .access = sandboxes.access,
            .cache = sandboxes.cache,
            .tenants = registry.tenant_directory,
            .admission = middleware.admission,
            .body_memory = middleware.body_memory,
            .clock = foundation.clock,
            .token_key = foundation.key_for("e2b tokens"),
            .domain = foundation.config.ports.domain,
            .body_bytes = static_cast<size_t>(foundation.config.limits.body_bytes)}) {
  add_routes();
}

void Api::add_routes() {
  const auto add = [this](auto&... handlers) { (handlers.add_routes(routes_), ...); };
  add(audit_, tenants_, keys_, profiles_, deployments_, prices_, usage_, budgets_, exports_,
      ledger_, invoices_, reconciliations_, sandboxes_, pausing_, snapshots_, network_, secrets_,
      decisions_, simulation_, providers_, exec_, processes_, terminal_, files_, events_, webhooks_,
      ports_, mcp_, operations_);
  e2b_.add_control_routes(routes_);
  query_names_ = api::query_names_of(operations_.document(), routes_);
}

void Api::start() {
  repeat(foundation_.executor(), "mcp sessions", std::chrono::seconds(30),
         [this] { return mcp_sessions_.sweep(); });
}

}  // namespace sandgate
