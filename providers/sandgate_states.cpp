#include "providers/sandbox_pages.hpp"
#include "providers/sandgate.hpp"
#include "providers/sandgate_wire.hpp"
#include "providers/vendor_json.hpp"

namespace sandgate {
namespace {

// Of a disk that has to be copied; the caller's own limit ends it earlier.
constexpr std::chrono::minutes kCopying{5};

std::string path_of_box(const std::string& id) { return "/v1/sandboxes/" + percent_encode(id); }

}  // namespace

Task<Keeps> SandgateProvider::pause(std::string id, Keeps keep) {
  Json body{{"keep", keep == Keeps::memory ? "memory" : "disk"}};
  const Json document = co_await api_.post(path_of_box(id) + "/pause", std::move(body));
  const BackendSandbox paused = wire::to_backend_sandbox(document);
  if (paused.state != BackendState::paused) throw not_its_api("sandgate");
  co_return paused.kept;
}

Task<void> SandgateProvider::resume(std::string id) {
  Json body = Json::object();
  const Json document = co_await api_.post(path_of_box(id) + "/resume", std::move(body));
  if (wire::to_backend_sandbox(document).state != BackendState::running)
    throw not_its_api("sandgate");
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
  ListRoom room("sandgate");
  do {
    room.take_page();
    RestCall call{.path = "/v1/snapshots?limit=100" + cursor, .room = room.bytes()};
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
