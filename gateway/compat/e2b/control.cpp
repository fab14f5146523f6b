#include "gateway/compat/e2b/control.hpp"

#include "gateway/api/with_failure_cause.hpp"
#include "gateway/compat/e2b/egress_rules.hpp"
#include "gateway/compat/e2b/sandbox_address.hpp"
#include "gateway/compat/e2b/sandbox_list.hpp"
#include "gateway/compat/e2b/sandbox_view.hpp"
#include "gateway/core/document_reader.hpp"
#include "gateway/http/problem.hpp"
#include "gateway/sandboxes/failure_translation.hpp"
#include "gateway/sandboxes/rows/pause_rows.hpp"
#include "registry/document_fields.hpp"

namespace sandgate::compat::e2b {
namespace {

// Default timeouts in seconds of the older and the newer version of the API, where the profile
// allows so much: who names no time must not be told that it is too long.
constexpr int64_t kOldTimeout = 15, kTimeout = 300;
constexpr int64_t kMaxRefresh = 3600, kMinRefresh = 15;
constexpr int64_t kMaxForks = 100;
constexpr std::chrono::seconds kSlack{1};  // by which an end may differ from what was asked for

bool is_new(const http::Request& request) { return request.path.starts_with("/e2b/v2/"); }

// Copies the request, with a body for one of the v1 handlers.
http::Request with_body(const http::Request& request, const Json& body) {
  http::Request inner = request;
  inner.body = body.dump();
  return inner;
}

// Reads the one relevant member, in seconds. Other members are ignored, since they only describe
// the default behaviour.
std::optional<int64_t> seconds_of(const Json& body, std::string_view name, int64_t least) {
  Problems problems;
  ObjectReader reader(body, problems);
  const auto seconds = reader.integer(name, least, kMaxSeconds);
  problems.throw_if_any();
  return seconds;
}

// To E2B, null is a body without members.
Json body_of(const http::Request& request) {
  Json body = request.json_or_empty();
  return body.is_null() ? Json::object() : body;
}

// Checked before a paused sandbox is resumed: after a failed call it would keep running.
void check_time(const SandboxRecord& record, int64_t seconds) {
  if (seconds > record.max_ttl_seconds)
    throw Error::invalid("/timeout", "must be at most " + std::to_string(record.max_ttl_seconds));
}

// What a call that resumes asks for.
struct WakeOrder {
  std::optional<int64_t> seconds;
  bool reboots = false;  // without the memory that the pause has kept
};

WakeOrder wake_order_from(const Json& body) {
  Problems problems;
  ObjectReader reader(body, problems);
  const auto seconds = reader.integer("timeout", 0, kMaxSeconds);
  const bool reboots = reader.boolean("memory") == false;
  problems.throw_if_any();
  return {.seconds = seconds, .reboots = reboots};
}

// Who asks for a reboot wants to be rid of what runs inside. E2B promises that no restore is taken
// for it.
void check_reboot(const SandboxRecord& record, const WakeOrder& order) {
  const bool only_disk = record.state == SandboxState::paused && record.kept == Keeps::disk;
  if (order.reboots && !is_running(record.state) && !only_disk)
    throw Error::invalid("/memory",
                         "cannot be false: the pause has kept the programs, and they go on. Leave "
                         "it out, or create another sandbox");
}

}  // namespace

// Returns the current row; Error(not_found) for states that E2B's clients do not know.
Task<SandboxRecord> Control::shown(const http::Request& request) {
  const SandboxId id = api::sandbox_id_of(request);
  const auto known = co_await parts_.lifecycle.get(request.tenant(), id);
  if (!is_shown(known->record.state)) throw Error::not_found("sandbox", id.value);
  co_return known->record;
}

Task<http::Response> Control::answer(const http::Request& request, int status) {
  const SandboxRecord record = co_await shown(request);
  http::Response response =
      http::Response::json(status, sandbox_json(record, parts_.tokens, parts_.domain));
  response.headers.emplace_back("Cache-Control", "no-store");
  co_return response;
}

// For a snapshot, the profile is that of the sandbox it was made of.
Task<std::string> Control::profile_for(TenantId tenant, SnapshotId id) {
  const auto snapshot = co_await snapshots_.find(tenant, std::move(id));
  const auto source = co_await parts_.lifecycle.get(tenant, snapshot.sandbox);
  co_return source->record.profile + "@" + std::to_string(source->record.profile_version);
}

Task<http::Response> Control::create(http::Request& request) {
  CreateRequest create = create_request_from(request.json());
  if (create.snapshot) {
    auto naming = profile_for(request.tenant(), *create.snapshot);
    create.profile = co_await std::move(naming);
    create.body["snapshot"] = create.snapshot->value;
  }
  create.body["profile"] = create.profile;
  http::Request inner = with_body(request, create.body);
  const int64_t usual = is_new(request) ? kTimeout : kOldTimeout;
  const auto fit = [&](const Profile& profile, Json& body) {
    check_profile_allows(profile, create);
    const int64_t max = max_ttl(profile).count();
    body["ttl_seconds"] = create.timeout.value_or(std::min(usual, max));
  };
  auto creating = parts_.sandboxes.create_fitted(inner, fit);
  const http::Response made = co_await std::move(creating);
  const Json document = Json::parse(std::get<std::string>(made.body));
  request.params["id"] = document.at("id").get<std::string>();
  // A sandbox that existed before (in its scope) keeps its ports.
  if (create.public_ports && !parts_.domain.empty() && made.status == 201)
    co_await open_every_port(request);
  co_return co_await answer(request, 201);
}

// If the ports cannot be opened, the sandbox is ended: the client would not learn of it.
Task<void> Control::open_every_port(const http::Request& request) {
  ports::OpenPort every;
  every.sandbox = api::sandbox_id_of(request);
  every.tenant = request.tenant();
  every.port = ports::kEveryPort;
  every.access = ports::Access::everyone;
  auto opening = parts_.ports.open(std::move(every), std::nullopt);
  const auto outcome = co_await attempt(std::move(opening));
  const auto* error = std::get_if<Error>(&outcome);
  if (!error) co_return;
  auto ending = parts_.lifecycle.kill(request.tenant(), api::sandbox_id_of(request));
  co_await attempt(std::move(ending));
  throw *error;
}

Task<http::Response> Control::list(http::Request& request) {
  ListRequest asked = list_request_from(request);
  asked.filter.ending = parts_.lifecycle.ending(request.tenant());
  auto read = [asked](pqxx::work& tx) { return find_listed(tx, asked); };
  const Listed found = co_await parts_.database.run(std::move(read));
  co_return list_answer(found, asked, parts_.domain);
}

// By the create or a later change; empty: neither said anything.
Task<std::optional<bool>> Control::internet_asked_for(SandboxId sandbox) {
  auto read = [sandbox](pqxx::work& tx) { return sandbox_rows::overrides_of(tx, sandbox); };
  auto reading = parts_.database.run(std::move(read));
  const Json overrides = co_await std::move(reading);
  co_return internet_from(overrides);
}

Task<http::Response> Control::get(http::Request& request) {
  const SandboxRecord record = co_await shown(request);
  Json document = detail_json(record, parts_.domain);
  const auto internet = co_await internet_asked_for(record.id);
  if (internet) document["allowInternetAccess"] = *internet;
  // Without permission to use the sandbox, the token is not shown.
  if (http::allows(request.caller.role, http::Permission::use_sandboxes))
    document["envdAccessToken"] = parts_.tokens.token_of(record.id);
  http::Response response = http::Response::json(200, document);
  response.headers.emplace_back("Cache-Control", "no-store");
  co_return response;
}

Task<http::Response> Control::remove(http::Request& request) {
  co_await shown(request);
  co_await parts_.sandboxes.remove(request);
  co_return http::Response::empty(204);
}

// `only_longer`: a later expiry is kept.
Task<void> Control::extend(const http::Request& request, int64_t seconds, bool only_longer) {
  const SandboxRecord record = co_await shown(request);
  const Time end = parts_.clock.now() + std::chrono::seconds(seconds);
  if (only_longer && record.expires_at >= end) co_return;
  http::Request inner = with_body(request, {{"ttl_seconds", std::max<int64_t>(1, seconds)}});
  co_await parts_.sandboxes.extend(inner);
}

// Throws Error(not_found) for a paused sandbox: older clients resume only what answers so.
Task<void> Control::check_awake(const http::Request& request) {
  const SandboxRecord record = co_await shown(request);
  if (!is_running(record.state))
    throw Error(ErrorCode::not_found, "the sandbox '" + record.id.value + "' is paused");
}

Task<http::Response> Control::set_timeout(http::Request& request) {
  const int64_t seconds = seconds_of(request.json(), "timeout", 0).value_or(kTimeout);
  co_await check_awake(request);
  co_await extend(request, seconds, /*only_longer=*/false);
  co_return http::Response::empty(204);
}

Task<http::Response> Control::refresh(http::Request& request) {
  const auto asked = seconds_of(body_of(request), "duration", 0);
  const int64_t seconds = std::clamp(asked.value_or(0), kMinRefresh, kMaxRefresh);
  co_await check_awake(request);
  co_await extend(request, seconds, /*only_longer=*/true);
  co_return http::Response::empty(204);
}

Task<http::Response> Control::pause(http::Request& request) {
  const Json body = body_of(request);
  DocumentReader reader(body);
  const bool memory = reader.boolean("memory").value_or(true);
  if (reader.boolean("requireHealthyGuest") == true)
    reader.problem("requireHealthyGuest", "is not offered here: leave it out");
  reader.finish_or_throw();
  const SandboxRecord record = co_await shown(request);
  if (record.state == SandboxState::paused) throw wrong_state(record);
  auto pausing = parts_.pausing.pause(request.tenant(), record.id,
                                      memory ? Keeps::memory : Keeps::disk, /*waits=*/true);
  co_await std::move(pausing);
  co_return http::Response::empty(204);
}

// The time is set before, so that the resume reserves the money for it. One that does not wait
// keeps a later end until it runs: it could end in the middle of a slow resume.
Task<void> Control::wake(const http::Request& request, int64_t seconds) {
  http::require_not_suspended(request.caller);
  const SandboxRecord paused = co_await shown(request);
  check_time(paused, seconds);
  co_await extend(request, seconds, /*only_longer=*/!waits_paused(paused));
  auto resuming = parts_.pausing.resume(request.tenant(), paused.id);
  const SandboxRecord running = co_await std::move(resuming);
  const auto off = running.expires_at - parts_.clock.now() - std::chrono::seconds(seconds);
  if (std::chrono::abs(off) > kSlack) co_await extend(request, seconds, /*only_longer=*/false);
}

Task<http::Response> Control::resume(http::Request& request) {
  const WakeOrder asked = wake_order_from(body_of(request));
  const SandboxRecord record = co_await shown(request);
  if (record.state == SandboxState::running) throw wrong_state(record);
  check_reboot(record, asked);
  co_await wake(request, asked.seconds.value_or(std::min(kOldTimeout, record.max_ttl_seconds)));
  co_return co_await answer(request, 201);
}

Task<http::Response> Control::connect(http::Request& request) {
  const WakeOrder asked = wake_order_from(body_of(request));
  const SandboxRecord record = co_await shown(request);
  check_reboot(record, asked);
  const int64_t seconds = asked.seconds.value_or(std::min(kTimeout, record.max_ttl_seconds));
  const bool runs = record.state == SandboxState::running;
  if (runs)
    co_await extend(request, seconds, /*only_longer=*/true);
  else
    co_await wake(request, seconds);
  co_return co_await answer(request, runs ? 200 : 201);
}

// Ports and time of a new copy, which is rendered as by create.
Task<Json> Control::set_up(http::Request request, int64_t seconds, bool public_ports) {
  if (public_ports) co_await open_every_port(request);
  co_await extend(request, seconds, /*only_longer=*/false);
  const SandboxRecord record = co_await shown(request);
  co_return sandbox_json(record, parts_.tokens, parts_.domain);
}

// A copy that cannot be set up is ended: the client does not learn of it.
Task<Json> Control::take_over(http::Request request, Json copy, int64_t seconds,
                              bool public_ports) {
  if (copy.contains("error")) {
    const Json problem = copy.at("error");
    co_return Json{{"error", {{"code", problem.at("status")}, {"message", problem.at("detail")}}}};
  }
  const SandboxId id{copy.at("sandbox").at("id").get<std::string>()};
  request.params["id"] = id.value;
  const TenantId tenant = request.tenant();
  auto setting_up = set_up(std::move(request), seconds, public_ports);
  const auto outcome = co_await attempt(std::move(setting_up));
  if (const auto* made = std::get_if<Json>(&outcome)) co_return Json{{"sandbox", *made}};
  auto ending = parts_.lifecycle.kill(tenant, id);
  co_await attempt(std::move(ending));
  const Error& error = std::get<Error>(outcome);
  const Json told{{"code", http::status_of(error.code)}, {"message", error.what()}};
  co_return Json{{"error", told}};
}

Task<http::Response> Control::fork(http::Request& request) {
  const Json body = body_of(request);
  DocumentReader reader(body);
  const auto asked = reader.integer("timeout", 1, kMaxSeconds);
  const int64_t count = reader.integer("count", 1, kMaxForks).value_or(1);
  reader.finish_or_throw();
  const SandboxRecord source = co_await shown(request);
  const int64_t seconds = asked.value_or(std::min(kTimeout, source.max_ttl_seconds));
  check_time(source, seconds);
  // Read before the fork, which would leave copies behind that nobody knows if this failed.
  const auto every = co_await parts_.ports.find(source.id, ports::kEveryPort);
  http::Request inner = with_body(request, {{"count", count}});
  const http::Response made = co_await parts_.snapshots.fork(inner);
  const Json copies = Json::parse(std::get<std::string>(made.body)).at("items");
  Json results = Json::array();
  for (const Json& copy : copies) {
    auto taking_over = take_over(request, copy, seconds, every != nullptr);
    results.push_back(co_await std::move(taking_over));
  }
  co_return http::Response::json(201, results);
}

// What is left out is as the profile says.
Task<http::Response> Control::update_network(http::Request& request) {
  const Json body = request.json();
  DocumentReader reader(body);
  if (!body.is_object()) reader.problems().throw_if_any();
  const auto internet = reader.boolean("allow_internet_access");
  const Json policy = egress_rules_from(reader, internet);
  for (const char* name : {"rules", "egressProxy"})
    if (!is_unset(reader.any(name))) reader.problem(name, "is not offered here");
  reader.finish_or_throw();
  co_await shown(request);
  http::Request inner = with_body(request, policy.is_null() ? Json::object() : policy);
  auto putting = api::with_failure_cause(parts_.lifecycle, inner, parts_.network.put(inner));
  co_await std::move(putting);
  co_return http::Response::empty(204);
}

// Only a current sample: no history is stored.
Task<http::Response> Control::metrics(http::Request& request) {
  const SandboxRecord record = co_await shown(request);
  Json samples = Json::array();
  if (record.state == SandboxState::running) {
    const http::Response taken = co_await parts_.sandboxes.metrics(request);
    const Json document = Json::parse(std::get<std::string>(taken.body));
    samples.push_back(metrics_json(document, record.resources));
  }
  co_return http::Response::json(200, samples);
}

void Control::add_routes(http::Routes& routes) {
  using http::BodyMode;
  using http::Method;
  using http::Permission;
  using Answer = Task<http::Response> (Control::*)(http::Request&);
  const auto add = [&](Method method, std::string path, Permission permission, Answer handler,
                       bool creates = false) {
    routes.add({.method = method,
                .pattern = "/e2b" + path,
                .permission = permission,
                .body = method == Method::post || method == Method::put ? BodyMode::buffered
                                                                        : BodyMode::none,
                .handler =
                    [this, handler](http::Request& r) {
                      drop_client_id(r);
                      return (this->*handler)(r);
                    },
                .idempotent_create = creates,
                .resumable = creates,
                .secret_answer = creates});
  };
  const auto use = Permission::use_sandboxes, read = Permission::read_sandboxes;
  for (const char* version : {"", "/v2"}) {
    const std::string all = std::string(version) + "/sandboxes";
    add(Method::post, all, use, &Control::create, /*creates=*/true);
    add(Method::get, all, read, &Control::list);
    add(Method::post, all + "/{id}/connect", use, &Control::connect);
  }
  const std::string one = "/sandboxes/{id}";
  add(Method::get, one, read, &Control::get);
  add(Method::delete_, one, use, &Control::remove);
  add(Method::post, one + "/timeout", use, &Control::set_timeout);
  add(Method::post, one + "/refreshes", use, &Control::refresh);
  add(Method::post, one + "/pause", use, &Control::pause);
  add(Method::post, one + "/resume", use, &Control::resume);
  add(Method::post, one + "/fork", use, &Control::fork, /*creates=*/true);
  add(Method::put, one + "/network", use, &Control::update_network);
  add(Method::get, one + "/metrics", read, &Control::metrics);
}

}  // namespace sandgate::compat::e2b
