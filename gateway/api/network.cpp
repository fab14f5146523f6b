#include "gateway/api/network.hpp"

#include "gateway/api/sandboxes.hpp"
#include "gateway/api/with_failure_cause.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/failure_translation.hpp"
#include "gateway/sandboxes/rows/pause_rows.hpp"
#include "gateway/sandboxes/uncancelled.hpp"
#include "registry/effective_request.hpp"

namespace sandgate::api {
namespace {

constexpr std::chrono::seconds kBackendTimeout{10};
constexpr std::string_view kMember = "/network";  // the member of a create's body

Json verdict_json(const NetworkVerdict& verdict) {
  Json reason;
  if (!verdict.allowed) reason = verdict.reason;
  return {{"at", to_rfc3339(verdict.at)},
          {"target", verdict.target},
          {"way", verdict.way},
          {"allowed", verdict.allowed},
          {"reason", std::move(reason)}};
}

// Parses the body like the member `network` of a create, with paths relative to the body.
NetworkPolicy tightened(const Profile& profile, const Json& body) {
  try {
    const Json asked{{"network", body}};
    return merge(profile, asked).profile.network;
  } catch (const Error& error) {
    Problems problems;
    for (const FieldProblem& field : error.fields)
      problems.add(field.path.substr(std::min(kMember.size(), field.path.size())), field.message);
    problems.throw_if_any();
    throw;
  }
}

}  // namespace

void NetworkHandlers::add_routes(http::Routes& routes) {
  routes.add(
      {.method = http::Method::get,
       .pattern = "/v1/sandboxes/{id}/network",
       .permission = http::Permission::read_sandboxes,
       .handler = [this](http::Request& r) { return with_failure_cause(lifecycle_, r, get(r)); }});
  routes.add(
      {.method = http::Method::put,
       .pattern = "/v1/sandboxes/{id}/network",
       .permission = http::Permission::use_sandboxes,
       .body = http::BodyMode::buffered,
       .handler = [this](http::Request& r) { return with_failure_cause(lifecycle_, r, put(r)); }});
}

Task<NetworkHandlers::Found> NetworkHandlers::find(http::Request& request) {
  auto finding = lifecycle_.get(request.tenant(), sandbox_id_of(request));
  const auto found = co_await std::move(finding);
  const SandboxRecord& record = found->record;
  check_running(record);
  const auto deployment = lifecycle_.deployment_of(record);
  co_return Found{record, deployment};
}

Task<http::Response> NetworkHandlers::get(http::Request& request) {
  auto finding = find(request);
  const Found found = co_await std::move(finding);
  auto asking = found.deployment->backend->network(found.record.backend_id);
  auto answering = within(kBackendTimeout, std::move(asking));
  const NetworkState state = co_await std::move(answering);
  Json body = to_json(state.policy);
  body["verdicts"] = Json::array();
  for (const NetworkVerdict& verdict : state.verdicts)
    body["verdicts"].push_back(verdict_json(verdict));
  co_return http::Response::json(200, body);
}

// The backend before the override: copies must not get what it refused, and a restriction takes
// effect even if the row cannot be written. The scope before the backend: who joins it must not get
// more than it asked for.
Task<std::monostate> NetworkHandlers::apply(Found found, NetworkPolicy policy, Json asked) {
  auto leave = [id = found.record.id, asked](pqxx::work& tx) {
    sandbox_rows::leave_scope(tx, id, asked);
  };
  auto leaving = lifecycle_.parts().database.run(std::move(leave));
  co_await attempt(std::move(leaving));  // again below
  auto setting = found.deployment->backend->set_network(found.record.backend_id, std::move(policy));
  auto answering = attempt_within(kBackendTimeout, std::move(setting));
  const auto outcome = co_await std::move(answering);
  if (const auto* failure = std::get_if<Error>(&outcome)) {
    Error told = *failure;
    // That code tells of deployments for a create; here only one counts.
    if (told.code == ErrorCode::no_capacity) told.code = ErrorCode::unavailable;
    throw told;
  }
  auto note = [id = found.record.id, asked](pqxx::work& tx) {
    sandbox_rows::leave_scope(tx, id, asked);
    sandbox_rows::set_network_override(tx, id, asked);
  };
  auto noting = lifecycle_.parts().database.run(std::move(note));
  co_await std::move(noting);
  co_return std::monostate{};
}

// The limit is the profile, not the current policy: a restriction can be lifted again.
Task<http::Response> NetworkHandlers::put(http::Request& request) {
  const Json body = request.json();
  if (!body.is_object()) throw Error::invalid("", "must be an object");
  auto finding = find(request);
  const Found found = co_await std::move(finding);
  auto reading = profiles_.version(found.record.profile_id, found.record.profile_version);
  const auto profile = co_await std::move(reading);
  const NetworkPolicy policy = tightened(*profile, body);
  auto waiting = mutex_.lock(found.record.id.value, kBackendTimeout);
  const auto turn = co_await std::move(waiting);
  auto work = [this, found, policy, body] { return apply(found, policy, body); };
  auto applying = uncancelled(std::move(work));
  co_await std::move(applying);
  co_return http::Response::json(200, to_json(policy));
}

}  // namespace sandgate::api
