#include "gateway/app/gateway.hpp"

#include <filesystem>
#include <fstream>
#include <thread>

#include "gateway/core/log.hpp"
#include "gateway/core/random.hpp"
#include "gateway/placement/placement_settings.hpp"
#include "providers/address_rules.hpp"
#include "providers/catalog.hpp"

namespace sandgate {
namespace {

size_t io_threads(const Config& config) {
  const auto cores = std::max(1u, std::thread::hardware_concurrency());
  return config.threads.io > 0 ? static_cast<size_t>(config.threads.io) : cores;
}

Secret master_key(const Config& config) {
  std::string hex = config.master_key.reveal();
  if (hex.empty()) {
    std::ifstream file(config.master_key_file());
    if (!file)
      throw Error(ErrorCode::invalid, "the master key cannot be read: check that " +
                                          config.master_key_file() +
                                          " is there and belongs to the gateway's account");
    file >> hex;
  }
  const auto bytes = from_hex(hex);
  if (!bytes || bytes->size() != 32)
    throw Error(ErrorCode::invalid, "the master key must be 64 hex digits: check " +
                                        config.master_key_file() + " or SANDGATE_MASTER_KEY");
  return Secret(*bytes);
}

constexpr const char* kLocalDeployment = "local";

void check_is_left(pqxx::work& tx, const DeploymentRow& row) {
  if (sandbox_rows::any_on(tx, row.name, row.tenant))
    throw Error(ErrorCode::conflict,
                "sandboxes or snapshots are still on this deployment: disable it, and end them");
}

// Gateways of one database may each have a node: whose is whose must be known over restarts.
std::string machine_name(const Config& config) {
  const std::string path = config.gateway_directory() + "/machine";
  std::string name;
  std::ifstream(path) >> name;
  if (name.empty()) {
    name = random_hex(8);
    std::ofstream file(path + ".new");
    if (!(file << name << std::endl)) throw Error(ErrorCode::unavailable, "cannot write " + path);
    std::filesystem::rename(path + ".new", path);
  }
  return name;
}

std::shared_ptr<LocalProvider> local_provider(const Config& config, const std::string& machine,
                                              std::function<void()> on_return) {
  if (!config.local.enabled) return nullptr;
  return std::make_shared<LocalProvider>(LocalProviderSettings{
      config.node_socket(), config.local_run() + "/sandboxes", config.local_run() + "/egress.sock",
      machine, std::move(on_return), config.local_data(), config.local.disk_floor_mib});
}

}  // namespace

Gateway::Gateway(const Config& config)
    : config_(config),
      machine_(machine_name(config)),
      io_(io_threads(config)),
      database_({.url = config.database_url(),
                 .connections = static_cast<size_t>(config.database.connections),
                 .patience = std::chrono::milliseconds(config.database.patience_ms)}),
      notifications_(config.database_url()),
      vault_(master_key(config)),
      tenants_(database_),
      tenant_directory_(tenants_, notifications_),
      keys_(database_),
      profiles_(database_),
      profile_resolver_(profiles_, notifications_),
      deployment_rows_(database_, vault_, check_is_left),
      secrets_(database_, vault_),
      prices_(database_),
      meter_(prices_, nullptr, config.billing.most_egress_gbit_per_second),
      usage_(database_, meter_),
      budget_rows_(database_),
      budgets_(prices_),
      invoices_(database_),
      export_rows_(database_, vault_),
      exports_(database_, vault_, curl_, clock_, config.webhooks.allow_private),
      local_(local_provider(config, machine_, [this] { health_.returned({kLocalDeployment}); })),
      deployments_(
          deployment_rows_, [this](const DeploymentRow& row) { return make_provider(row); },
          fixed_deployments()),
      health_(clock_),
      breakers_(database_, deployments_, health_),
      spend_(budgets_, clock_),
      sandbox_cache_(database_),
      activity_(std::make_shared<Activity>(database_)),
      outage_({.path = config.outage_journal()}),
      lifecycle_({database_, deployments_, health_, prices_, meter_, spend_, sandbox_cache_, clock_,
                  io_.executor(), &outage_, config.billing.unpriced == "refuse", &vault_}),
      sampler_(lifecycle_, {}),
      budget_enforcer_(budgets_, lifecycle_,
                       [this](TenantId tenant, SandboxId id) -> Task<void> {
                         co_await pausing_.pause(std::move(tenant), std::move(id), Keeps::disk);
                       }),
      reaper_(lifecycle_, {.hold = [this] { return outage_.is_pending(); }, .machine = machine_}),
      reconciler_(lifecycle_, {}),
      secret_keeper_(lifecycle_, vault_),
      pausing_(lifecycle_),
      access_(lifecycle_, activity_),
      ports_(database_, notifications_),
      app_pool_(std::max<size_t>(1, static_cast<size_t>(config.limits.connections) / 2)),
      event_log_(database_),
      webhooks_(database_, vault_),
      webhook_sender_(database_, vault_, curl_, clock_,
                      {.allow_private = config.webhooks.allow_private}),
      authenticator_(keys_, tenant_directory_, clock_, config.admin_key, notifications_),
      admission_(tenant_directory_),
      idempotency_(database_, {.vault = &vault_}),
      audit_api_(database_),
      tenants_api_(tenants_),
      keys_api_(keys_, clock_),
      profiles_api_(profiles_, profile_resolver_,
                    [this](const Profile& profile, const std::optional<TenantId>& owner) {
                      return placement_warnings(profile, owner, *deployments_.snapshot(),
                                                *prices_.snapshot(), clock_.now());
                    }),
      deployments_api_(deployment_rows_, deployment_rules()),
      prices_api_(prices_, database_),
      usage_api_(database_, usage_),
      budgets_api_(budget_rows_),
      exports_api_(export_rows_),
      ledger_api_(database_),
      invoices_api_(invoices_, usage_),
      reconciliations_api_(database_, deployments_),
      sandboxes_api_(lifecycle_, profile_resolver_),
      pausing_api_(pausing_),
      snapshots_api_(lifecycle_, profile_resolver_),
      network_api_(lifecycle_, profile_resolver_),
      secrets_api_(secrets_),
      decisions_api_(lifecycle_, profile_resolver_),
      simulation_api_(lifecycle_, profile_resolver_),
      providers_api_(lifecycle_, profile_resolver_),
      exec_api_(access_, &body_room_),
      processes_api_(access_),
      terminal_api_(access_),
      files_api_(access_),
      events_api_(event_log_, event_bell_,
                  [this](TenantId tenant, SandboxId id) -> Task<void> {
                    co_await lifecycle_.get(tenant, id);
                  }),
      webhooks_api_(webhooks_, config.webhooks.allow_private),
      ports_api_(access_, lifecycle_, ports_, port_settings()),
      mcp_sessions_(lifecycle_),
      mcp_(
          mcp_sessions_, [this](http::Request& request) { return dispatcher_->within(request); },
          mcp_settings()),
      operations_api_(operations()),
      e2b_(e2b_parts()) {}

DeploymentSet Gateway::fixed_deployments() const {
  if (!local_) return {};
  auto local = std::make_shared<Deployment>();
  local->name = kLocalDeployment;
  local->provider = "local";
  local->backend = local_;
  return {local};
}

std::shared_ptr<Provider> Gateway::make_provider(const DeploymentRow& row) {
  const ProviderKind* kind = find_provider_kind(row.provider);
  if (!kind) throw Error(ErrorCode::invalid, "no provider '" + row.provider + "'");
  Json credentials = Json::object();
  for (const auto& [name, value] : row.credentials) credentials[name] = value.reveal();
  return kind->make({curl_, io_.executor()},
                    {backend_settings(row.settings), credentials, row.tenant.has_value()});
}

api::DeploymentHandlers::Rules Gateway::deployment_rules() {
  api::DeploymentHandlers::Rules rules;
  for (const ProviderKind& kind : provider_kinds()) rules.providers.push_back(kind.name);
  rules.validate = [this](const DeploymentRow& row, Problems& problems) {
    if (local_ && row.name == kLocalDeployment)
      problems.add("", "the name '" + row.name + "' is that of the backend on this machine");
    Json credentials = Json::object();
    for (const auto& [name, value] : row.credentials) credentials[name] = value.reveal();
    read_placement_settings(row.settings, problems);
    if (const ProviderKind* kind = find_provider_kind(row.provider))
      kind->validate(backend_settings(row.settings), credentials, problems);
    // Names are judged by what they resolve to, when they are dialled.
    const Json url = row.settings.value("url", Json());
    if (row.tenant && url.is_string() && names_private_address(url.get<std::string>()))
      problems.add("/settings/url", "only public addresses: private upstreams are the operator's");
  };
  return rules;
}

api::OperationsSources Gateway::operations() {
  api::OperationsSources sources;
  sources.version = SANDGATE_VERSION;
  sources.database_answers = [this]() -> Task<bool> {
    auto ask = database_.run([](pqxx::work& tx) { tx.exec("SELECT 1"); });
    const auto outcome = co_await attempt(std::move(ask));
    co_return outcome.index() == 0;
  };
  sources.has_deployment = [this]() -> Task<bool> {
    const auto set = deployments_.snapshot();
    for (const auto& deployment : *set)
      if (deployment->enabled && !deployment->descriptor.verbs.empty()) co_return true;
    co_return false;
  };
  sources.metrics = [this](MetricText& out) { render_metrics(out); };
  return sources;
}

api::PortHandlers::Settings Gateway::port_settings() const {
  return {.domain = config_.ports.domain,
          .tls = !config_.tls.certificate.empty(),
          .token_key = Secret(hmac_sha256_hex(master_key(config_), "port tokens"))};
}

ports::PortGate::Settings Gateway::gate_settings() const {
  return {.domain = config_.ports.domain,
          .relay = {.silence = std::chrono::seconds(config_.ports.silence_seconds),
                    .tls = !config_.tls.certificate.empty()}};
}

compat::mcp::Handlers::Settings Gateway::mcp_settings() const {
  return {config_.mcp.profile, config_.mcp.origins, SANDGATE_VERSION};
}

compat::e2b::Surface::Parts Gateway::e2b_parts() {
  return {.lifecycle = lifecycle_,
          .profiles = profile_resolver_,
          .sandboxes = sandboxes_api_,
          .pausing = pausing_api_,
          .snapshots = snapshots_api_,
          .ports = ports_,
          .access = access_,
          .cache = sandbox_cache_,
          .tenants = tenant_directory_,
          .admission = admission_,
          .body_room = body_room_,
          .clock = clock_,
          .token_key = Secret(hmac_sha256_hex(master_key(config_), "e2b tokens")),
          .domain = config_.ports.domain,
          .body_bytes = static_cast<size_t>(config_.limits.body_bytes)};
}

void Gateway::add_routes() {
  audit_api_.add_routes(routes_);
  tenants_api_.add_routes(routes_);
  keys_api_.add_routes(routes_);
  profiles_api_.add_routes(routes_);
  deployments_api_.add_routes(routes_);
  prices_api_.add_routes(routes_);
  usage_api_.add_routes(routes_);
  budgets_api_.add_routes(routes_);
  exports_api_.add_routes(routes_);
  ledger_api_.add_routes(routes_);
  invoices_api_.add_routes(routes_);
  reconciliations_api_.add_routes(routes_);
  sandboxes_api_.add_routes(routes_);
  pausing_api_.add_routes(routes_);
  snapshots_api_.add_routes(routes_);
  network_api_.add_routes(routes_);
  secrets_api_.add_routes(routes_);
  decisions_api_.add_routes(routes_);
  simulation_api_.add_routes(routes_);
  providers_api_.add_routes(routes_);
  exec_api_.add_routes(routes_);
  processes_api_.add_routes(routes_);
  terminal_api_.add_routes(routes_);
  files_api_.add_routes(routes_);
  events_api_.add_routes(routes_);
  webhooks_api_.add_routes(routes_);
  ports_api_.add_routes(routes_);
  mcp_.add_routes(routes_);
  operations_api_.add_routes(routes_);
  e2b_.add_control_routes(routes_);
}

http::ServerOptions Gateway::server_options() const {
  http::ServerOptions options;
  options.address = config_.listen_address;
  options.port = config_.listen_port;
  if (!config_.tls.certificate.empty())
    options.tls = http::TlsFiles{config_.tls.certificate, config_.tls.key};
  options.max_connections = static_cast<size_t>(config_.limits.connections);
  options.grace = std::chrono::seconds(config_.limits.stop_grace_seconds);
  options.limits.header_bytes = static_cast<size_t>(config_.limits.header_bytes);
  options.access_log = config_.log.level == "debug";
  return options;
}

}  // namespace sandgate
