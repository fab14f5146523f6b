#include "gateway/api/sandboxes.hpp"

#include <tuple>

#include "gateway/api/ordering.hpp"
#include "gateway/api/page.hpp"
#include "gateway/api/path_id.hpp"
#include "gateway/api/with_failure_cause.hpp"
#include "gateway/core/document_reader.hpp"
#include "gateway/http/problem.hpp"
#include "gateway/sandboxes/failure_translation.hpp"
#include "gateway/sandboxes/upkeep/state_alignment.hpp"
#include "registry/document_fields.hpp"
#include "registry/profile_channel.hpp"

namespace sandgate::api {
namespace {

constexpr std::chrono::milliseconds kCpuWindow{100};
constexpr std::chrono::milliseconds kTakeUpPause{50};
constexpr std::chrono::seconds kTakeUpTimeout{2};

http::Response rendered(int status, const std::string& body) {
  http::Response response;
  response.status = status;
  response.body = body;
  return response;
}

ForwardingPath passed_by(const http::Request& request) {
  const auto via = request.headers.find(kViaHeader);
  return via ? forwarding_path_from(*via) : ForwardingPath();
}

// A channel is not accepted: rows do not record it, and the versions behind it change.
std::pair<std::string, std::optional<int64_t>> profile_and_version(const std::string& text) {
  const auto reference = profile_reference_from(text);
  if (!reference || (!reference->version && reference->name != text))
    throw Error::invalid("/profile", "must be the name of a profile, or name@version");
  return {reference->name, reference->version};
}

sandbox_rows::Filter filter_from(const http::Request& request, const PageRequest& page) {
  sandbox_rows::Filter filter{.tenant = request.tenant(), .rows = page.rows_to_fetch()};
  const http::Query& query = request.query;
  if (const auto word = query.find("state")) {
    const auto state = sandbox_state_from(*word);
    if (!state) throw Error::invalid("/state", "is not a state of a sandbox");
    filter.states = {*state};
  }
  if (query.find("ended")) filter.ended = query.flag("ended");
  if (const auto profile = query.find("profile"))
    std::tie(filter.profile, filter.profile_version) = profile_and_version(*profile);
  if (const auto deployment = query.find("deployment")) {
    // Whoever ends all that a filter lists must not end all others for an empty one.
    if (deployment->empty()) throw Error::invalid("/deployment", "must name a deployment");
    filter.deployment = *deployment;
  }
  for (const auto& [name, value] : query.items())
    if (name.starts_with("metadata.")) filter.metadata[name.substr(9)] = *query.find(name);
  filter.after = page.created_after();
  return filter;
}

Json metrics_json(const SandboxMetrics& first, const SandboxMetrics& second) {
  const auto wall = (second.sampled_at - first.sampled_at).count();
  // An unreadable counter is negative; a restarted counter is below its earlier value.
  const auto known = [](int64_t counter) { return std::max<int64_t>(counter, 0); };
  const auto busy = known(second.cpu_micros - known(first.cpu_micros));
  constexpr int64_t kMib = 1024 * 1024;
  return {{"cpu_used_percent", wall > 0 ? 100.0 * static_cast<double>(busy) / wall : 0.0},
          {"cpu_seconds", static_cast<double>(known(second.cpu_micros)) / 1e6},
          {"memory_used_mib", second.memory_used_bytes / kMib},
          {"memory_limit_mib", second.memory_limit_bytes / kMib},
          {"disk_used_mib", second.disk_used_bytes / kMib},
          {"egress_bytes", known(second.egress_bytes)},
          {"processes", second.processes},
          {"sampled_at", to_rfc3339(second.sampled_at)}};
}

}  // namespace

void SandboxHandlers::add_routes(http::Routes& routes) {
  using http::Method;
  using http::Permission;
  const auto add = [&](Method method, const char* pattern, Permission permission, auto handler,
                       bool creates = false) {
    routes.add({.method = method,
                .pattern = pattern,
                .permission = permission,
                .body = method == Method::post ? http::BodyMode::buffered : http::BodyMode::none,
                .handler = std::bind_front(handler, this),
                .idempotent_create = creates,
                .resumable = creates,
                .location_prefix = creates ? "/v1/sandboxes/" : ""});
  };
  const auto use = Permission::use_sandboxes, read = Permission::read_sandboxes;
  add(Method::post, "/v1/sandboxes", use, &SandboxHandlers::create, true);
  add(Method::get, "/v1/sandboxes", read, &SandboxHandlers::list);
  add(Method::get, "/v1/sandboxes/{id}", read, &SandboxHandlers::get);
  add(Method::delete_, "/v1/sandboxes/{id}", use, &SandboxHandlers::remove);
  add(Method::post, "/v1/sandboxes/{id}/extend", use, &SandboxHandlers::extend);
  routes.add({.method = Method::get,
              .pattern = "/v1/sandboxes/{id}/metrics",
              .permission = read,
              .handler = [this](http::Request& r) {
                return with_failure_cause(lifecycle_, r, metrics(r));
              }});
}

SandboxId sandbox_id_of(const http::Request& request) {
  return path_id<SandboxId>(request, "sandbox");
}

// Returns the sandbox that an earlier run of this request created, if its backend still has it.
// Otherwise ends what that run may still be creating, since no client was told of it, and returns
// nothing.
Task<std::optional<SandboxRecord>> SandboxHandlers::take_up(const http::Request& request) {
  const auto id = SandboxId::parse(request.earlier);
  if (!id) co_return std::nullopt;
  const auto limit = std::chrono::steady_clock::now() + kTakeUpTimeout;
  for (;;) {
    const OutageJournal* outage = lifecycle_.parts().outage;
    if (outage && outage->has(request.tenant(), *id)) co_return std::nullopt;
    const auto found = co_await lifecycle_.refresh(request.tenant(), *id);
    const SandboxRecord& record = found->record;
    if (record.failure) co_return std::nullopt;
    if (!record.backend_id.empty()) co_return record;
    if (record.state != SandboxState::creating) co_return std::nullopt;
    if (std::chrono::steady_clock::now() > limit) break;
    co_await sleep_for(kTakeUpPause);
  }
  co_await lifecycle_.kill_uncharged(request.tenant(), *id);
  co_return std::nullopt;
}

Task<http::Response> SandboxHandlers::create(http::Request& request) {
  return create_fitted(request, nullptr);
}

Task<http::Response> SandboxHandlers::create_fitted(http::Request& request, FitToProfile fit) {
  http::require_not_suspended(request.caller);
  ForwardingPath passed = passed_by(request);
  check_can_forward(passed, lifecycle_.parts().installation->id());
  const auto made = co_await take_up(request);
  if (made) co_return http::Response::json(201, to_json(*made));
  Json body = request.json();
  std::string reference = profile_reference(body);
  auto ordering =
      order_from(request, std::move(body), std::move(reference), profiles_, std::move(fit));
  CreateOrder order = co_await std::move(ordering);
  order.passed = std::move(passed);
  co_await follow_snapshot(order, snapshots_);
  order.scope_key = request.session.empty() ? scope_key_of(order) : request.session;
  auto creating = scopes_.create(order);
  const auto outcome = co_await attempt(std::move(creating));
  if (const auto* failure = std::get_if<Error>(&outcome))
    throw with_request_paths(*failure, order.overrides);
  const Scopes::Joined& met = std::get<Scopes::Joined>(outcome);
  if (met.made) shadowing_.follow(order, met.sandbox.id);
  co_return http::Response::json(met.made ? 201 : 200, to_json(met.sandbox));
}

Task<http::Response> SandboxHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 2, {"state", "profile", "deployment", "metadata."});
  sandbox_rows::Filter filter = filter_from(request, page);
  filter.ending = lifecycle_.ending(request.tenant());
  auto read = [filter](pqxx::work& tx) { return sandbox_rows::list(tx, filter); };
  const auto records = co_await lifecycle_.parts().database.run(std::move(read));
  const auto render = [](const SandboxRecord& record) { return to_json(record); };
  co_return http::Response::json(200,
                                 page_json(page, records, render, creation_key<SandboxRecord>));
}

Task<http::Response> SandboxHandlers::get(http::Request& request) {
  const SandboxId id = sandbox_id_of(request);
  const TenantId tenant = request.tenant();
  const bool ask = request.query.flag("refresh");
  auto finding = ask ? refresh_state(lifecycle_, tenant, id) : lifecycle_.find(tenant, id);
  const auto found = co_await std::move(finding);
  if (found) co_return rendered(200, found->body);
  // Not thrown: unwinding these coroutines takes a quarter of the answer's time.
  const Error error = Error::not_found("sandbox", id.value);
  co_return http::problem(error, request.id);
}

Task<http::Response> SandboxHandlers::remove(http::Request& request) {
  const SandboxId id = sandbox_id_of(request);
  const TenantId tenant = request.tenant();
  const auto since = std::chrono::steady_clock::now() - request.received;
  const Time asked =
      lifecycle_.parts().clock.now() - std::chrono::duration_cast<std::chrono::microseconds>(since);
  const EndResult result = co_await lifecycle_.kill(tenant, id, asked);
  if (result == EndResult::ended) co_return http::Response::empty(204);
  // Without the database, the last known row is shown, with the requested end.
  const auto found = co_await lifecycle_.get_to_end(tenant, id);
  SandboxRecord told = found->record;
  if (!is_ended(told.state)) told.state = SandboxState::stopping;
  co_return http::Response::json(202, to_json(told));
}

Task<http::Response> SandboxHandlers::extend(http::Request& request) {
  const SandboxId id = sandbox_id_of(request);
  const Json body = request.json();
  DocumentReader reader(body);
  reader.require("ttl_seconds");
  const auto ttl = reader.integer("ttl_seconds", 1, kMaxSeconds);
  reader.finish_or_throw();
  const auto record = co_await extending_.extend(request.tenant(), id, *ttl);
  co_return http::Response::json(200, to_json(record));
}

// Reading metrics does not count as use, so the idle timeout continues.
Task<http::Response> SandboxHandlers::metrics(http::Request& request) {
  const auto found = co_await lifecycle_.get(request.tenant(), sandbox_id_of(request));
  const SandboxRecord& record = found->record;
  check_running(record);
  const auto deployment = lifecycle_.deployment_of(record);
  check_can(deployment->descriptor, Verb::metrics, "the sandbox's backend does not measure");
  const auto first = co_await deployment->backend->metrics(record.backend_id);
  co_await sleep_for(kCpuWindow);
  const auto second = co_await deployment->backend->metrics(record.backend_id);
  co_return http::Response::json(200, metrics_json(first, second));
}

}  // namespace sandgate::api
