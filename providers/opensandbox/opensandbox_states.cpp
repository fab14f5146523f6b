#include "providers/backoff.hpp"
#include "providers/opensandbox/opensandbox.hpp"
#include "providers/sandbox_pages.hpp"

// Pause, resume and snapshots of OpenSandboxProvider.
namespace sandgate {
namespace {

constexpr auto kOpenSandboxTimeout = std::chrono::minutes(3);

Error too_slow_opensandbox() {
  return Error(ErrorCode::timeout, "opensandbox did not change the state in time");
}

std::string snapshot_path_of_opensandbox(const std::string& snapshot) {
  return "/snapshots/" + percent_encode(snapshot);
}

}  // namespace

Task<void> OpenSandboxProvider::change_state(std::string id, std::string verb, BackendState state) {
  RestCall call{.method = "POST", .path = opensandbox::box_path(id) + "/" + verb};
  const auto asked = co_await attempt(api_.call(std::move(call)));
  if (const auto* error = std::get_if<Error>(&asked)) {
    // It may be in that state already, or in the transition to it, for an earlier request.
    const auto box = co_await existing(box_of(id), id);
    if (state == BackendState::running ? box.paused : box.running) throw *error;
  }
  const auto limit = std::chrono::steady_clock::now() + kOpenSandboxTimeout;
  for (Backoff pause; std::chrono::steady_clock::now() < limit; co_await pause.wait()) {
    const auto box = co_await existing(box_of(id), id);
    if (state == BackendState::running ? box.running : box.paused) co_return;
  }
  throw too_slow_opensandbox();
}

Task<Keeps> OpenSandboxProvider::pause(std::string id, Keeps) {
  const auto box = co_await existing(box_of(id), id);
  if (!box.paused) co_await change_state(id, "pause", BackendState::paused);
  co_return settings_.rules.paused;
}

Task<void> OpenSandboxProvider::resume(std::string id) {
  const auto box = co_await existing(box_of(id), id);
  if (!box.running) co_await change_state(id, "resume", BackendState::running);
}

Task<std::optional<opensandbox::Snapshot>> OpenSandboxProvider::named_snapshot(
    std::string snapshot_id) {
  std::optional<opensandbox::Snapshot> failed;
  ListBudget budget("opensandbox");
  for (int page = 1;; ++page) {
    RestCall call{.path = "/snapshots?pageSize=100&page=" + std::to_string(page),
                  .budget = budget.bytes()};
    budget.take_page(call.path);
    const Json document = co_await api_.call(std::move(call));
    for (const Json& item : list_of("opensandbox", document, "items")) {
      auto one = opensandbox::to_snapshot(item);
      if (one.name != snapshot_id) continue;
      if (!one.failed) co_return one;
      failed = std::move(one);
    }
    if (!opensandbox::has_next_page(document)) break;
  }
  co_return failed;
}

// Includes failed and unfinished snapshots, because they must be removed.
Task<std::optional<BackendSnapshot>> OpenSandboxProvider::find_snapshot(std::string snapshot_id) {
  const auto found = co_await named_snapshot(std::move(snapshot_id));
  if (!found) co_return std::nullopt;
  co_return found->snapshot;
}

Task<BackendSnapshot> OpenSandboxProvider::snapshot(std::string id, std::string snapshot_id, Keeps,
                                                    bool) {
  auto taken = co_await named_snapshot(snapshot_id);
  if (!taken || taken->failed) {
    Json body{{"name", snapshot_id}};
    const std::string path = opensandbox::box_path(id) + "/snapshots";
    const Json document = co_await api_.post(path, std::move(body));
    taken = opensandbox::to_snapshot(document);
  }
  const std::string path = snapshot_path_of_opensandbox(taken->snapshot.backend_id);
  const auto limit = std::chrono::steady_clock::now() + kOpenSandboxTimeout;
  for (Backoff pause; std::chrono::steady_clock::now() < limit; co_await pause.wait()) {
    const Json document = co_await api_.get(path);
    const auto now = opensandbox::to_snapshot(document);
    if (now.ready) co_return now.snapshot;
    if (now.failed) throw Error(ErrorCode::unavailable, "opensandbox lost the snapshot");
  }
  throw too_slow_opensandbox();
}

Task<void> OpenSandboxProvider::remove_snapshot(std::string snapshot) {
  return api_.remove(snapshot_path_of_opensandbox(snapshot));
}

}  // namespace sandgate
