#include <algorithm>

#include "providers/backoff.hpp"
#include "providers/e2b/e2b.hpp"

// Pause, resume and snapshots of E2bProvider.
namespace sandgate {
namespace {

// The vendor's timeout after a resume, if the deployment's limits name none.
constexpr int64_t kResumedSeconds = 3600;

std::string state_path(const std::string& id, const char* verb) {
  return "/sandboxes/" + percent_encode(id) + "/" + verb;
}

// Saving and loading memory takes seconds per GiB.
constexpr auto kStateDeadline = std::chrono::minutes(3);

}  // namespace

Task<Keeps> E2bProvider::pause(std::string id, Keeps keep) {
  RestCall call{.method = "POST", .path = state_path(id, "pause"), .json = Json::object()};
  if (keep == Keeps::disk) call.json = Json{{"memory", false}};
  call.deadline = kStateDeadline;
  const auto outcome = co_await attempt(api_.call(std::move(call)));
  const auto* error = std::get_if<Error>(&outcome);
  if (!error) co_return keep == Keeps::disk ? Keeps::disk : Keeps::memory;
  if (error->code != ErrorCode::conflict) throw *error;
  // It is paused already, or an earlier request is still at work.
  const auto limit = std::chrono::steady_clock::now() + kStateDeadline;
  for (Backoff pause; std::chrono::steady_clock::now() < limit; co_await pause.wait()) {
    const auto sandbox = co_await find(id);
    if (!sandbox) throw Error::not_found("sandbox", id);
    // Older servers do not say that only the disk was kept, as an earlier request may have asked.
    if (sandbox->state == BackendState::paused) co_return std::min(keep, sandbox->kept);
  }
  throw *error;
}

Task<void> E2bProvider::resume(std::string id) {
  const int64_t limit = settings_.limits.max_ttl_seconds;
  RestCall call{.method = "POST",
                .path = state_path(id, "connect"),
                .json = Json{{"timeout", limit > 0 ? limit : kResumedSeconds}}};
  call.deadline = kStateDeadline;
  const Json document = co_await api_.call(std::move(call));
  e2b::Access access = e2b::to_access(document);
  accesses_.remember(id, std::move(access));
}

Task<BackendSnapshot> E2bProvider::snapshot(std::string id, std::string snapshot_id, Keeps, bool) {
  const auto taken = co_await find_snapshot(snapshot_id);
  if (taken) co_return *taken;
  RestCall call{
      .method = "POST", .path = state_path(id, "snapshots"), .json = Json{{"name", snapshot_id}}};
  call.deadline = kStateDeadline;
  const Json document = co_await api_.call(std::move(call));
  co_return e2b::to_snapshot(document);
}

// Older servers ignore the name in the query.
Task<std::optional<BackendSnapshot>> E2bProvider::find_snapshot(std::string snapshot_id) {
  const auto entries =
      co_await entries_of("/snapshots?limit=100&name=" + percent_encode(snapshot_id));
  for (const Json& entry : entries)
    if (e2b::is_named(entry, snapshot_id)) co_return e2b::to_snapshot(entry);
  co_return std::nullopt;
}

Task<void> E2bProvider::remove_snapshot(std::string snapshot) {
  return api_.remove("/templates/" + percent_encode(snapshot));
}

}  // namespace sandgate
