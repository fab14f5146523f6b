#include "gateway/app/backends.hpp"

#include <thread>

#include "gateway/app/background.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/events/outbox.hpp"
#include "gateway/placement/placement_settings.hpp"
#include "gateway/sandboxes/rows/sandbox_rows.hpp"
#include "providers/catalog.hpp"
#include "providers/kind_settings.hpp"

namespace sandgate {
namespace {

constexpr const char* kLocalDeployment = "local";
constexpr std::chrono::milliseconds kNodeStart{2000};

void check_unused(pqxx::work& tx, const DeploymentRow& row) {
  if (sandbox_rows::any_on(tx, row.name, row.tenant))
    throw Error(ErrorCode::conflict,
                "sandboxes or snapshots are still on this deployment, or what a create left there"
                " is looked for: disable it, end them, and try again");
}

std::shared_ptr<LocalProvider> local_provider(const Foundation& foundation,
                                              std::function<void()> on_return) {
  const Config& config = foundation.config;
  if (!config.local.enabled) return nullptr;
  return std::make_shared<LocalProvider>(
      LocalProviderSettings{.node_socket = config.node_socket(),
                            .sandboxes_dir = config.local_run() + "/sandboxes",
                            .egress_socket = config.local_run() + "/egress.sock",
                            .machine = foundation.machine,
                            .on_return = std::move(on_return),
                            .data_dir = config.local_data(),
                            .disk_floor_mib = config.local.disk_floor_mib});
}

Json credentials_of(const DeploymentRow& row) {
  Json credentials = Json::object();
  for (const auto& [name, value] : row.credentials) credentials[name] = value.reveal();
  return credentials;
}

}  // namespace

Backends::Backends(Foundation& below)
    : foundation(below),
      rows(below.database, below.cipher, check_unused),
      local(local_provider(below, [this] { health.recovered({kLocalDeployment}); })),
      deployments(
          rows, [this](const DeploymentRow& row) { return make_provider(row); }, fixed()),
      health(below.clock),
      breakers(below.database, deployments, health) {}

DeploymentSet Backends::fixed() const {
  if (!local) return {};
  auto deployment = std::make_shared<Deployment>();
  deployment->name = kLocalDeployment;
  deployment->provider = "local";
  deployment->backend = local;
  return {deployment};
}

std::shared_ptr<Provider> Backends::make_provider(const DeploymentRow& row) {
  const ProviderKind* kind = find_provider_kind(row.provider);
  if (!kind) throw Error(ErrorCode::invalid, "no provider '" + row.provider + "'");
  auto& inputs = inputs_[DeploymentKey{row.name, row.tenant}];
  if (!inputs) inputs = std::make_shared<LiveInputs>();
  return kind->make(
      {foundation.curl, foundation.executor()},
      {backend_settings(row.settings), credentials_of(row), row.tenant.has_value(), inputs});
}

void Backends::forget_removed(const DeploymentSet& set) {
  const auto exists = [&](const DeploymentKey& key) {
    return find_deployment(set, key) != nullptr;
  };
  health.forget_unless(exists);
  std::erase_if(inputs_, [&](const auto& one) { return !exists(one.first); });
}

void Backends::check(const DeploymentRow& row, Problems& problems) const {
  // Also where this gateway has no machine: another one's sandboxes would count as the tenant's.
  if (row.name == kLocalDeployment && (local || row.tenant))
    problems.add("", "the name '" + row.name + "' is that of the backend on a gateway's machine");
  read_placement_settings(row.settings, problems);
  if (const ProviderKind* kind = find_provider_kind(row.provider))
    kind->validate(backend_settings(row.settings), credentials_of(row), problems);
  if (row.tenant) refuse_private_urls(row.settings, problems);
}

void Backends::await_local() {
  const auto limit = std::chrono::steady_clock::now() + kNodeStart;
  while (local && std::chrono::steady_clock::now() < limit) {
    auto asking = attempt_within(kNodeStart, local->refresh());
    if (!std::holds_alternative<Error>(foundation.wait(std::move(asking)))) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void Backends::subscribe() {
  health.on_change([this](const DeploymentKey& deployment, const Verdict& verdict) {
    spawn_detached(foundation.executor(), [this, deployment, verdict]() -> Task<void> {
      co_await breakers.publish(deployment, verdict);
    });
    if (verdict.turned) publish_breaker(deployment, verdict.breaker);
  });
  // Failures with earlier credentials or settings say nothing about the current ones.
  deployments.on_change([this](const DeploymentKey& deployment) { health.recovered(deployment); });
  deployments.on_reload([this](const DeploymentSet& set) { forget_removed(set); });
  breakers.subscribe(foundation.notifications, foundation.executor());
  foundation.notifications.subscribe(kDeploymentsChannel,
                                     [this](const std::string&) { deployments.wake(); });
}

// Each replica judges deployments by its own observations and announces its own breakers.
void Backends::publish_breaker(const DeploymentKey& deployment, Breaker breaker) {
  const std::string type = breaker == Breaker::open ? "deployment.opened" : "deployment.closed";
  auto work = [this, deployment, type]() -> Task<void> {
    const Json data{{"deployment", deployment.name}};
    auto tell = [=](pqxx::work& tx) {
      publish_event(tx, deployment.tenant, type, "deployments/" + deployment.name, data);
    };
    const auto outcome = co_await attempt(foundation.database.run(std::move(tell)));
    if (const auto* error = std::get_if<Error>(&outcome))
      log::warn("an event was not written", {{"type", type}, {"reason", error->what()}});
  };
  spawn_detached(foundation.executor(), std::move(work));
}

void Backends::start() {
  if (local) {
    keep_running(foundation.executor(), "local descriptor", [this] { return local->keep_fresh(); });
    repeat(foundation.executor(), "authorities", std::chrono::seconds(1),
           [this] { return local->install_authorities(); });
  }
  keep_running(foundation.executor(), "deployments", [this] { return deployments.run(); });
}

void Backends::render(MetricText& out) const {
  std::vector<DeploymentKey> known;
  const auto set = deployments.snapshot();
  for (const DeploymentPtr& one : *set) known.push_back(one->key());
  health.render(out, known);
  const auto disk = local ? local->disk() : std::nullopt;
  if (!disk) return;
  out.gauge("sandgate_local_disk_free_bytes", "Free on the file system of local sandboxes' disks.",
            static_cast<uint64_t>(disk->free_bytes));
  out.gauge("sandgate_local_disk_floor_bytes", "Below it no local sandbox is made.",
            static_cast<uint64_t>(disk->floor_bytes));
}

}  // namespace sandgate
