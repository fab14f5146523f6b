#include "providers/backoff.hpp"
#include "providers/runloop/runloop.hpp"

// Suspend, resume and disk snapshots of RunloopProvider. All keep the disk only.
namespace sandgate {
namespace {

constexpr auto kRunloopDeadline = std::chrono::seconds(60);
constexpr auto kRunloopTimeout = std::chrono::minutes(3);

Error too_slow() {
  return Error(ErrorCode::timeout, "runloop did not change the sandbox's state in time");
}

std::string snapshot_path(const std::string& snapshot) {
  return "/v1/devboxes/disk_snapshots/" + percent_encode(snapshot);
}

}  // namespace

Task<void> RunloopProvider::change_state(std::string id, std::string verb, BackendState state) {
  RestCall call{
      .method = "POST", .path = runloop::box_path(id) + "/" + verb, .json = Json::object()};
  call.deadline = kRunloopDeadline;
  const auto asked = co_await attempt(api_.call(std::move(call)));
  if (const auto* error = std::get_if<Error>(&asked)) {
    // It may be in that state already, or in the transition to it, for an earlier request.
    const auto box = co_await existing(box_of(id), id);
    if (state == BackendState::running ? box.suspended : box.running) throw *error;
  }
  const auto limit = std::chrono::steady_clock::now() + kRunloopTimeout;
  for (Backoff pause; std::chrono::steady_clock::now() < limit; co_await pause.wait()) {
    const auto box = co_await existing(box_of(id), id);
    const bool there = state == BackendState::running ? box.running : box.suspended;
    if (there) co_return;
  }
  throw too_slow();
}

Task<Keeps> RunloopProvider::pause(std::string id, Keeps) {
  const auto box = co_await existing(box_of(id), id);
  if (!box.suspended) co_await change_state(id, "suspend", BackendState::paused);
  co_return Keeps::disk;
}

Task<void> RunloopProvider::resume(std::string id) {
  const auto box = co_await existing(box_of(id), id);
  if (!box.running) co_await change_state(id, "resume", BackendState::running);
}

Task<BackendSnapshot> RunloopProvider::snapshot(std::string id, std::string snapshot_id, Keeps,
                                                bool) {
  auto taken = co_await find_snapshot(snapshot_id);
  if (!taken) {
    Json body{{"name", snapshot_id}, {"metadata", {{"sandgate_id", snapshot_id}}}};
    const std::string path = runloop::box_path(id) + "/snapshot_disk_async";
    const Json document = co_await api_.post(path, std::move(body));
    taken = runloop::to_snapshot(document);
  }
  const auto limit = std::chrono::steady_clock::now() + kRunloopTimeout;
  for (Backoff pause; std::chrono::steady_clock::now() < limit; co_await pause.wait()) {
    RestCall call{.path = snapshot_path(taken->backend_id) + "/status"};
    const Json document = co_await api_.call(std::move(call));
    const Json status = field_of(document, "status");
    if (status == "complete") co_return *taken;
    if (status != "in_progress") throw Error(ErrorCode::unavailable, "runloop lost the snapshot");
  }
  throw too_slow();
}

Task<std::optional<BackendSnapshot>> RunloopProvider::find_snapshot(std::string snapshot_id) {
  RestCall call{.path = "/v1/devboxes/disk_snapshots?limit=10&metadata%5Bsandgate_id%5D=" +
                        percent_encode(snapshot_id)};
  const Json document = co_await api_.call(std::move(call));
  const Json items = field_of(document, "snapshots");
  if (!items.is_array()) throw Error(ErrorCode::unavailable, "runloop sent no list");
  for (const Json& item : items)
    if (text_of(item, "name") == snapshot_id) co_return runloop::to_snapshot(item);
  co_return std::nullopt;
}

Task<void> RunloopProvider::remove_snapshot(std::string snapshot) {
  RestCall call{
      .method = "POST", .path = snapshot_path(snapshot) + "/delete", .json = Json::object()};
  co_await api_.find(std::move(call));
}

}  // namespace sandgate
