#include "gateway/api/simulation.hpp"

#include "gateway/api/time_range.hpp"
#include "gateway/core/document_reader.hpp"
#include "gateway/sandboxes/rows/recorded_requests.hpp"
#include "registry/profile_parse.hpp"

namespace sandgate::api {
namespace {

constexpr std::chrono::hours kDefaultSpan{24};
constexpr int kPage = 200;
constexpr size_t kMaxRequests = 10'000;
constexpr std::chrono::seconds kReadingTimeout{20}, kSimulationRetry{2};

struct Simulation {
  std::string reference;  // of a published version; empty if `draft` is set
  std::optional<Profile> draft;
  Time from, to;
};

// Prefixes the paths of a draft's problems with the member that holds the draft.
Profile draft_from(const Json& document) {
  try {
    return parse_profile(document);
  } catch (const Error& error) {
    if (error.fields.empty()) throw;
    std::vector<FieldProblem> fields = error.fields;
    for (FieldProblem& field : fields) field.path = "/profile" + field.path;
    Error placed = Error::invalid(fields.front().path, fields.front().message);
    placed.fields = std::move(fields);
    throw placed;
  }
}

Simulation simulation_from(const Json& body, Time now) {
  DocumentReader reader(body);
  Simulation wanted;
  reader.require("profile");
  const Json* profile = reader.any("profile");
  if (profile && profile->is_string())
    wanted.reference = profile->get<std::string>();
  else if (profile && !profile->is_object() && !profile->is_null())
    reader.problem("profile", "must be a profile or the name of one");
  TimeRange range = time_range_members(reader);
  if (!range.from) range.from = range.to.value_or(now) - kDefaultSpan;
  std::tie(wanted.from, wanted.to) = resolve_time_range(range, now);
  reader.finish_or_throw();
  if (profile->is_object()) wanted.draft = draft_from(*profile);
  return wanted;
}

Error under_way() {
  Error error(ErrorCode::rate_limited, "a simulation of this tenant is under way");
  error.retry_after = kSimulationRetry;
  return error;
}

// Returns false if there are more requests than are replayed.
Task<bool> replay_all(Database& database, asio::thread_pool& thread,
                      sandbox_rows::RecordedSpan span, std::shared_ptr<Replay> replay) {
  while (replay->report().requests < kMaxRequests) {
    auto read = [span](pqxx::work& tx) {
      return std::make_shared<const std::vector<RecordedRequest>>(
          sandbox_rows::recorded(tx, span, kPage));
    };
    const auto page = co_await database.report(kReadingTimeout, std::move(read));
    auto work = [replay, page] {
      for (const RecordedRequest& request : *page) replay->add(request);
    };
    auto replaying = run_on_pool(thread, std::move(work));
    co_await std::move(replaying);
    if (page->size() < static_cast<size_t>(kPage)) co_return true;
    span.to = page->back().at;
    span.below = page->back().sandbox;
  }
  co_return false;
}

}  // namespace

void SimulationHandlers::add_routes(http::Routes& routes) {
  routes.add({.method = http::Method::post,
              .pattern = "/v1/routing/simulate",
              .permission = http::Permission::read_sandboxes,
              .body = http::BodyMode::buffered,
              .handler = [this](http::Request& request) { return simulate(request); }});
}

Task<http::Response> SimulationHandlers::simulate(http::Request& request) {
  Simulation wanted = simulation_from(request.json(), parts_.clock.now());
  const TenantId tenant = request.tenant();
  const auto lock = mutex_.try_lock(tenant.value);
  if (!lock) throw under_way();
  std::string name;
  if (wanted.draft) {
    name = wanted.draft->name;
  } else {
    auto finding = profiles_.resolve(tenant, wanted.reference, "");
    const auto resolved = co_await std::move(finding);
    wanted.draft = *resolved.profile;
    name = resolved.name + "@" + std::to_string(resolved.version);
  }
  sandbox_rows::RecordedSpan span{tenant, wanted.draft->name, wanted.from, wanted.to, ""};
  auto replay = std::make_shared<Replay>(*wanted.draft, tenant, parts_.deployments.snapshot(),
                                         parts_.prices.snapshot(), parts_.price_required);
  auto replaying = replay_all(parts_.database, thread_, std::move(span), replay);
  const bool whole = co_await std::move(replaying);
  Json answer = to_json(replay->report());
  answer["profile"] = std::move(name);
  answer["from"] = to_rfc3339(wanted.from);
  answer["to"] = to_rfc3339(wanted.to);
  answer["truncated"] = !whole;
  co_return http::Response::json(200, answer);
}

}  // namespace sandgate::api
