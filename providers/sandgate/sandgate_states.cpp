#include "providers/backoff.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/sandgate/sandgate.hpp"
#include "providers/sandgate/sandgate_wire.hpp"
#include "providers/vendor_json.hpp"

namespace sandgate {
namespace {

// The disk may have to be copied. The caller's own limit usually ends the call earlier.
constexpr std::chrono::minutes kCopying{5};
// For a pause or resume that continues after its answer; likewise.
constexpr std::chrono::minutes kChanging{2};

std::string path_of_box(const std::string& id) { return "/v1/sandboxes/" + percent_encode(id); }

}  // namespace

// A verb, and the states before, during and after it.
struct SandgateProvider::Change {
  const char* verb;
  const char* before;
  const char* meanwhile;
  const char* after;
};

Task<BackendSandbox> SandgateProvider::change(std::string id, Json body, Change change) {
  const std::string path = path_of_box(id);
  Json document = co_await api_.post(path + "/" + change.verb, std::move(body));
  const auto limit = std::chrono::steady_clock::now() + kChanging;
  for (Backoff pause; wire::to_state(document) == change.meanwhile;) {
    if (std::chrono::steady_clock::now() > limit)
      throw Error(ErrorCode::timeout, "sandgate did not change the sandbox's state in time");
    co_await pause.wait();
    document = co_await api_.get(path);
    if (wire::to_state(document) == change.before)
      throw Error(ErrorCode::conflict, "the backend began it and then gave it up");
    if (wire::to_backend_sandbox(document).state == BackendState::gone)
      throw Error::not_found("sandbox", id);
  }
  if (wire::to_state(document) != change.after) throw unexpected_answer("sandgate");
  co_return wire::to_backend_sandbox(document);
}

Task<Keeps> SandgateProvider::pause(std::string id, Keeps keep) {
  Json body{{"keep", keep == Keeps::memory ? "memory" : "disk"}};
  auto pausing = change(std::move(id), std::move(body), {"pause", "running", "pausing", "paused"});
  const BackendSandbox paused = co_await std::move(pausing);
  co_return paused.kept;
}

Task<void> SandgateProvider::resume(std::string id) {
  Json body = Json::object();
  auto resuming =
      change(std::move(id), std::move(body), {"resume", "paused", "resuming", "running"});
  co_await std::move(resuming);
}

Task<BackendSnapshot> SandgateProvider::snapshot(std::string id, std::string snapshot_id,
                                                 Keeps keep, bool) {
  RestCall call{
      .method = "POST",
      .path = path_of_box(id) + "/snapshots",
      .json = Json{{"name", snapshot_id}, {"keep", keep == Keeps::memory ? "memory" : "disk"}},
      .headers = {{"Idempotency-Key", snapshot_id}}};
  call.deadline = kCopying;
  const Json document = co_await api_.call(std::move(call));
  co_return wire::to_backend_snapshot(document);
}

Task<std::optional<BackendSnapshot>> SandgateProvider::find_snapshot(std::string snapshot_id) {
  std::string cursor;
  ListBudget budget("sandgate");
  do {
    RestCall call{.path = "/v1/snapshots?limit=100" + cursor, .budget = budget.bytes()};
    budget.take_page(call.path);
    const Json document = co_await api_.call(std::move(call));
    for (const Json& item : list_of("sandgate", document, "items"))
      if (text_of(item, "name") == snapshot_id) co_return wire::to_backend_snapshot(item);
    cursor = next_query("cursor", text_of(document, "next_cursor"));
  } while (!cursor.empty());
  co_return std::nullopt;
}

Task<void> SandgateProvider::remove_snapshot(std::string snapshot) {
  return api_.remove("/v1/snapshots/" + percent_encode(snapshot));
}

}  // namespace sandgate
