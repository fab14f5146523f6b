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
  if (!error && keep == Keeps::disk) co_return keep;
  if (error && error->code != ErrorCode::conflict) throw *error;
  if (!error) co_return co_await kept_memory(id);
  // It is paused already, or an earlier request is still at work.
  const auto limit = std::chrono::steady_clock::now() + kStateDeadline;
  for (Backoff pause; std::chrono::steady_clock::now() < limit; co_await pause.wait()) {
    const auto sandbox = co_await existing(find(id), id);
    // Older servers do not say that only the disk was kept, as an earlier request may have asked.
    if (sandbox.state == BackendState::paused) co_return std::min(keep, sandbox.kept);
  }
  throw *error;
}

// The vendor takes a memory in which its agent does not answer and says so only when it is asked.
Task<Keeps> E2bProvider::kept_memory(std::string id) {
  const auto found = co_await attempt(find(std::move(id)));
  const auto* sandbox = std::get_if<std::optional<BackendSandbox>>(&found);
  const bool told = sandbox && *sandbox && (*sandbox)->state == BackendState::paused;
  co_return told ? (*sandbox)->kept : Keeps::memory;
}

Task<Json> E2bProvider::connect(std::string id, bool from_disk) {
  const int64_t limit = settings_.limits.max_ttl_seconds;
  RestCall call{.method = "POST",
                .path = state_path(id, "connect"),
                .json = Json{{"timeout", limit > 0 ? limit : kResumedSeconds}}};
  if (from_disk) (*call.json)["memory"] = false;
  call.deadline = kStateDeadline;
  co_return co_await api_.call(std::move(call));
}

Task<void> E2bProvider::resume(std::string id) {
  auto outcome = co_await attempt(connect(id, /*from_disk=*/false));
  if (const auto* error = std::get_if<Error>(&outcome)) {
    if (error->code != ErrorCode::conflict) throw *error;
    // A memory that is never restored is refused. What was kept is the disk then.
    const Keeps kept = co_await kept_memory(id);
    if (kept != Keeps::disk) throw *error;
    outcome = co_await connect(id, /*from_disk=*/true);
  }
  e2b::Access access = e2b::to_access(std::get<Json>(outcome));
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
