#include "providers/backoff.hpp"
#include "providers/blaxel/blaxel.hpp"

// Pause, resume and snapshots of BlaxelProvider. A pause is the vendor's archive, which keeps the
// disk but no process. The vendor's suspension of idle sandboxes is not a state here, since any
// call ends it. Snapshots keep the memory as well.
namespace sandgate {

Task<void> BlaxelProvider::change_state(std::string id, std::string verb, bool archived) {
  RestCall call{.method = "POST", .path = blaxel::box_path(id) + "/" + verb};
  call.deadline = std::chrono::seconds(60);
  const auto asked = co_await attempt(api_.call(std::move(call)));
  if (const auto* error = std::get_if<Error>(&asked)) {
    // It may be in that state already, or in the transition to it.
    const auto box = co_await box_of(id);
    if (!box || error->code != ErrorCode::conflict) throw *error;
    const bool there = archived ? box->sandbox.state == BackendState::paused : box->running;
    if (!there) throw *error;
  }
  Backoff pause;
  // The time grows with the file system; the caller's own limit ends the wait.
  for (;;) {
    const auto box = co_await existing(box_of(id), id);
    if (archived ? box.archived : box.running) co_return;
    co_await pause.wait();
  }
}

Task<Keeps> BlaxelProvider::pause(std::string id, Keeps) {
  const auto box = co_await existing(box_of(id), id);
  if (!box.archived) co_await change_state(id, "archive", /*archived=*/true);
  co_return Keeps::disk;
}

Task<void> BlaxelProvider::resume(std::string id) {
  const auto box = co_await existing(box_of(id), id);
  if (!box.running) co_await change_state(id, "unarchive", /*archived=*/false);
}

Task<BackendSnapshot> BlaxelProvider::wait_until_finished(blaxel::Snapshot snapshot) {
  const std::string path = blaxel::snapshot_path(snapshot.snapshot.backend_id);
  for (Backoff pause; !snapshot.ready;) {
    if (snapshot.failed) throw Error(ErrorCode::unavailable, "blaxel lost the snapshot");
    co_await pause.wait();
    const Json now = co_await api_.get(path);
    snapshot = blaxel::to_snapshot(now);
  }
  co_return snapshot.snapshot;
}

Task<BackendSnapshot> BlaxelProvider::snapshot(std::string id, std::string snapshot_id, Keeps,
                                               bool) {
  if (!settings_.rules.snapshots) throw Error(ErrorCode::unsupported, "blaxel has no snapshots");
  auto taken = co_await named_snapshot(snapshot_id);
  if (!taken) {
    Json body{{"name", snapshot_id}, {"source", {{"name", id}, {"kind", "sandbox"}}}};
    const Json document = co_await api_.post("/snapshots", std::move(body));
    taken = blaxel::to_snapshot(document);
  }
  co_return co_await wait_until_finished(std::move(*taken));
}

Task<std::optional<blaxel::Snapshot>> BlaxelProvider::named_snapshot(std::string snapshot_id) {
  RestCall call{.path = "/snapshots?limit=200&q=" + percent_encode(snapshot_id)};
  const Json document = co_await api_.call(std::move(call));
  for (const Json& item : list_of("blaxel", document, "data")) {
    blaxel::Snapshot one = blaxel::to_snapshot(item);
    if (one.name == snapshot_id) co_return one;
  }
  co_return std::nullopt;
}

// Includes failed and unfinished snapshots, because they must be removed.
Task<std::optional<BackendSnapshot>> BlaxelProvider::find_snapshot(std::string snapshot_id) {
  const auto found = co_await named_snapshot(std::move(snapshot_id));
  if (!found) co_return std::nullopt;
  co_return found->snapshot;
}

Task<void> BlaxelProvider::remove_snapshot(std::string snapshot) {
  return api_.remove(blaxel::snapshot_path(snapshot));
}

}  // namespace sandgate
