#include "local/local_provider.hpp"

#include "gateway/core/log.hpp"
#include "gateway/core/settle.hpp"
#include "local/node/egress/egress_supervisor.hpp"
#include "local/node/server/requests.hpp"
#include "local/secret_trust.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kLook{200}, kRefresh{10'000};
constexpr std::chrono::seconds kQuestionTimeout{5};
constexpr char kAt = '@';

Descriptor unasked() {
  Descriptor descriptor;
  descriptor.provider = "local";
  descriptor.known = false;
  descriptor.notes = {"the node was not reached yet"};
  return descriptor;
}

// Programs without support for proxies work as well, by transparent redirection. Variables of the
// caller are kept.
void add_proxy_variables(std::map<std::string, std::string>& env) {
  for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"})
    env.try_emplace(name, kProxyUrl);
  for (const char* name : {"NO_PROXY", "no_proxy"})
    env.try_emplace(name, "localhost,127.0.0.1,::1");
}

SandboxRequest to_request(CreateSpec spec) {
  SandboxRequest request;
  request.id = std::move(spec.sandbox_id);
  request.tenant_id = std::move(spec.tenant_id);
  request.image = std::move(spec.image);
  request.resources = spec.resources;
  request.ttl = spec.ttl;
  request.env = std::move(spec.env);
  request.network = std::move(spec.network);
  if (allows_egress(request.network)) add_proxy_variables(request.env);
  request.has_secrets = spec.uses_secrets;
  if (request.has_secrets) add_authority_variables(request.env);
  request.allow_root = spec.allow_root;
  request.allow_debug = spec.allow_debug;
  request.workspace = std::move(spec.workspace);
  request.workspace_writable = spec.workspace_writable;
  request.snapshot = std::move(spec.snapshot);
  return request;
}

}  // namespace

LocalProvider::LocalProvider(LocalProviderSettings settings)
    : settings_(std::move(settings)),
      node_(settings_.node_socket),
      egress_(settings_.egress_socket),
      space_(settings_.data_dir, settings_.disk_floor_mib),
      descriptor_(std::make_shared<const Descriptor>(unasked())) {}

Task<void> LocalProvider::refresh() {
  Json answer = co_await ask("describe");
  Descriptor told = descriptor_from_json(answer.at("descriptor"));
  told.machine = settings_.machine;
  told.reports_final_usage = true;
  told.repeats_starts = true;
  told.workspaces = answer.value("workspaces", told.workspaces);
  auto fresh = std::make_shared<const Descriptor>(std::move(told));
  instance_ = answer.value("instance", "");
  std::lock_guard lock(mutex_);
  descriptor_.swap(fresh);
}

Task<void> LocalProvider::keep_fresh() {
  for (bool away = false;;) {
    const std::string before = instance_;
    auto outcome = co_await attempt(refresh());
    const bool failed = std::holds_alternative<Error>(outcome);
    if (failed && !away) log::warn("local node away", {});
    if (!failed && away) log::info("local node back", {});
    if (!failed && (away || instance_ != before) && settings_.on_return) settings_.on_return();
    away = failed;
    const auto until = std::chrono::steady_clock::now() + (away ? kLook : kRefresh);
    const size_t misses = node_.misses();
    while (node_.misses() == misses && std::chrono::steady_clock::now() < until)
      co_await sleep_for(kLook);
  }
}

Task<Json> LocalProvider::ask(std::string verb, Json params) {
  auto asking = node_.call(std::move(verb), std::move(params));
  auto outcome = co_await attempt_within(kQuestionTimeout, std::move(asking));
  if (const auto* error = std::get_if<Error>(&outcome)) throw *error;
  co_return std::move(std::get<Json>(outcome));
}

Descriptor LocalProvider::descriptor() const {
  std::unique_lock lock(mutex_);
  const auto known = descriptor_;
  lock.unlock();
  return *known;
}

std::string LocalProvider::handle_of(std::string id) const {
  return settings_.machine.empty() ? id : id + kAt + settings_.machine;
}

std::string LocalProvider::id_of(const std::string& handle) const {
  const size_t at = handle.find(kAt);
  if (at != std::string::npos && handle.substr(at + 1) != settings_.machine)
    throw Error(ErrorCode::unavailable, "it is on the machine of another gateway");
  return handle.substr(0, at);
}

BackendSandbox LocalProvider::to_sandbox(const Json& answer) const {
  BackendSandbox sandbox = backend_sandbox_from(answer);
  sandbox.backend_id = handle_of(std::move(sandbox.backend_id));
  return sandbox;
}

BackendSnapshot LocalProvider::to_snapshot(const Json& answer) const {
  BackendSnapshot snapshot = backend_snapshot_from(answer);
  snapshot.backend_id = handle_of(std::move(snapshot.backend_id));
  return snapshot;
}

Task<BackendSandbox> LocalProvider::create(CreateSpec spec) {
  spec.snapshot = id_of(spec.snapshot);
  const bool uses_secrets = spec.uses_secrets;
  SecretGrants secrets = spec.secrets;
  Json request = to_json(to_request(std::move(spec)));
  const Json answer = co_await node_.call("create", std::move(request));
  BackendSandbox made = to_sandbox(answer);
  if (!uses_secrets) co_return made;
  auto giving = give_and_install(made.backend_id, std::move(secrets));
  const auto given = co_await attempt(std::move(giving));
  if (const auto* failure = std::get_if<Error>(&given)) {
    // A sandbox without its secrets is not usable.
    auto killing = kill(made.backend_id);
    co_await attempt(std::move(killing));
    throw *failure;
  }
  co_return made;
}

std::optional<BackendSandbox> LocalProvider::predict_create(const CreateSpec& spec) const {
  return to_sandbox({{"id", spec.sandbox_id}, {"state", "running"}});
}

Task<std::optional<BackendSandbox>> LocalProvider::find(std::string id) {
  Json params{{"id", id_of(id)}};
  Json answer = co_await ask("find", std::move(params));
  if (answer.is_null()) co_return std::nullopt;
  co_return to_sandbox(answer);
}

Task<std::optional<BackendSandbox>> LocalProvider::find_by_tag(std::string sandbox_id) {
  auto found = co_await find(std::move(sandbox_id));
  if (found && found->state == BackendState::gone) found = std::nullopt;
  co_return found;
}

Task<std::vector<BackendSandbox>> LocalProvider::list() {
  Json answer = co_await ask("list");
  std::vector<BackendSandbox> sandboxes;
  for (const Json& item : answer) sandboxes.push_back(to_sandbox(item));
  co_return sandboxes;
}

Task<void> LocalProvider::kill(std::string id) {
  Json params{{"id", id_of(id)}};
  co_await node_.call("kill", std::move(params));
}

Task<SandboxMetrics> LocalProvider::finish(std::string id) {
  Json params{{"id", id_of(id)}};
  const Json counted = co_await node_.call("finish", std::move(params));
  if (counted.is_null()) throw Error::not_found("sandbox", id);
  co_return metrics_from(counted);
}

Task<std::vector<std::string>> LocalProvider::deaths() {
  const Json ids = co_await ask("deaths");
  co_return ids.get<std::vector<std::string>>();
}

Task<SandboxMetrics> LocalProvider::metrics(std::string id) {
  Json params{{"id", id_of(id)}};
  Json answer = co_await ask("metrics", std::move(params));
  co_return metrics_from(answer);
}

// Keeps memory even if only the disk is asked for, because frozen memory costs nothing to keep.
Task<Keeps> LocalProvider::pause(std::string id, Keeps) {
  Json params{{"id", id_of(id)}};
  co_await node_.call("pause", std::move(params));
  co_return Keeps::memory;
}

Task<void> LocalProvider::resume(std::string id) {
  Json params{{"id", id_of(id)}};
  co_await node_.call("resume", std::move(params));
}

Task<BackendSnapshot> LocalProvider::snapshot(std::string id, std::string snapshot_id, Keeps,
                                              bool lasting) {
  Json params{{"id", id_of(id)}, {"snapshot", std::move(snapshot_id)}, {"lasting", lasting}};
  Json answer = co_await node_.call("snapshot", std::move(params));
  co_return to_snapshot(answer);
}

Task<std::optional<BackendSnapshot>> LocalProvider::find_snapshot(std::string snapshot_id) {
  Json params{{"snapshot", std::move(snapshot_id)}};
  Json answer = co_await ask("find_snapshot", std::move(params));
  if (answer.is_null()) co_return std::nullopt;
  co_return to_snapshot(answer);
}

Task<void> LocalProvider::remove_snapshot(std::string snapshot) {
  Json params{{"snapshot", id_of(snapshot)}};
  co_await node_.call("remove_snapshot", std::move(params));
}

Task<void> LocalProvider::extend(std::string id, std::chrono::seconds ttl) {
  Json params{{"id", id_of(id)}, {"ttl_seconds", ttl.count()}};
  co_await ask("extend", std::move(params));
}

}  // namespace sandgate
