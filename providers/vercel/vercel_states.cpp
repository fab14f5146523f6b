#include "gateway/core/log.hpp"
#include "providers/backoff.hpp"
#include "providers/fixed_end.hpp"
#include "providers/sandbox_pages.hpp"
#include "providers/vercel/vercel.hpp"

// Pause, resume, snapshots and time to live of VercelProvider. Only the disk survives.
namespace sandgate {
namespace {

constexpr auto kVercelState = std::chrono::minutes(3);
constexpr std::chrono::milliseconds kVercelExtension{1000};
constexpr int64_t kVercelForkLife = 86'400'000;  // ms, the shortest that the vendor accepts

std::string vercel_snapshot_path(const std::string& snapshot) {
  return "/v2/sandboxes/snapshots/" + percent_encode(snapshot);
}

}  // namespace

Task<void> VercelProvider::update(std::string id, Json fields) {
  RestCall call{.method = "PATCH", .path = named(id), .json = std::move(fields)};
  co_await api_.call(std::move(call));
}

Task<Keeps> VercelProvider::pause(std::string id, Keeps) {
  auto box = co_await existing(box_of(id), id);
  // Removes the link of an earlier, failed snapshot, so that the disk saved here is not mistaken
  // for it.
  if (box.saved_session == box.session.id) {
    Json tags = vercel::to_tags(box.sandbox, "", "");
    co_await update(id, std::move(tags));
  }
  if (box.running) {
    sessions_.forget(id);
    RestCall call{.method = "POST", .path = session_path(box.session.id, "/stop")};
    call.deadline = kVercelState;
    co_await api_.call(std::move(call));
  }
  for (Backoff pause; !box.stopped;) {
    co_await pause.wait();
    box = co_await existing(box_of(id), id);
  }
  sessions_.forget(id);
  co_return Keeps::disk;
}

Task<void> VercelProvider::resume(std::string id) {
  auto box = co_await existing(box_of(id, /*resume=*/true), id);
  const vercel::Box ready = co_await running(std::move(box));
  const std::chrono::milliseconds most = std::chrono::seconds(settings_.limits.max_ttl_seconds);
  const auto missing = most - ready.session.timeout;
  if (missing < kVercelExtension) co_return;
  RestCall call{
      .method = "POST", .path = "/extend-timeout", .json = Json{{"duration", missing.count()}}};
  const auto outcome = co_await attempt(this->call(id, std::move(call)));
  // The account's plan may allow less than the deployment's limits.
  if (const auto* error = std::get_if<Error>(&outcome))
    log::warn("time to live not extended", {{"provider", "vercel"}, {"reason", error->what()}});
}

Task<BackendSnapshot> VercelProvider::snapshot(std::string id, std::string snapshot_id, Keeps,
                                               bool lasting) {
  auto taken = co_await find_snapshot(snapshot_id);
  if (!taken) {
    sessions_.forget(id);
    const vercel::Session session = co_await session_of(id);
    const auto box = co_await existing(box_of(id), id);
    Json tags = vercel::to_tags(box.sandbox, snapshot_id, session.id);
    co_await update(id, std::move(tags));
    RestCall call{.method = "POST",
                  .path = session_path(session.id, "/snapshot"),
                  .json = Json{{"expiration", lasting ? 0 : kVercelForkLife}}};
    call.deadline = kVercelState;
    const Json document = co_await api_.call(std::move(call));
    taken = vercel::to_snapshot(field_of(document, "snapshot"));
  }
  // The snapshot ended the session.
  sessions_.forget(id);
  co_await resume(id);
  co_return *taken;
}

// The vendor's snapshots have no name. The sandbox's tags link a session to our snapshot id, and a
// session becomes at most one snapshot.
Task<std::optional<BackendSnapshot>> VercelProvider::find_snapshot(std::string snapshot_id) {
  const std::string project = "?project=" + percent_encode(settings_.rules.project);
  RestCall search{.path = with_team("/v2/sandboxes" + project + "&limit=1&tags=" +
                                    percent_encode("sandgate_snapshot:" + snapshot_id))};
  const Json found = co_await api_.call(std::move(search));
  const Json& sandboxes = list_of("vercel", found, "sandboxes");
  if (sandboxes.empty()) co_return std::nullopt;
  const Json answer{{"sandbox", sandboxes.front()}};
  const vercel::Box box = vercel::to_box(answer);
  const std::string all = project + "&limit=50&name=" + percent_encode(box.sandbox.backend_id);
  std::string cursor;
  ListBudget budget("vercel");
  do {
    RestCall call{.path = with_team("/v2/sandboxes/snapshots" + all + cursor),
                  .budget = budget.bytes()};
    budget.take_page(call.path);
    const Json document = co_await api_.call(std::move(call));
    for (const Json& item : list_of("vercel", document, "snapshots"))
      if (text_of(item, "sourceSessionId") == box.saved_session &&
          text_of(item, "status") == "created")
        co_return vercel::to_snapshot(item);
    cursor = next_query("cursor", text_of(field_of(document, "pagination"), "next"));
  } while (!cursor.empty());
  co_return std::nullopt;
}

Task<void> VercelProvider::remove_snapshot(std::string snapshot) {
  return api_.remove(with_team(vercel_snapshot_path(snapshot)));
}

// The vendor extends the timeout by a difference.
Task<void> VercelProvider::extend(std::string id, std::chrono::seconds ttl) {
  const auto box = co_await existing(box_of(id), id);
  if (!box.running || !box.session.ends_at) co_return;
  const auto missing = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now() + ttl - *box.session.ends_at);
  if (missing < kVercelExtension) co_return;
  RestCall call{
      .method = "POST", .path = "/extend-timeout", .json = Json{{"duration", missing.count()}}};
  const auto extended = co_await attempt(this->call(std::move(id), std::move(call)));
  if (const auto* error = std::get_if<Error>(&extended))
    throw refused_extension(*error, box.session.ends_at);
}

}  // namespace sandgate
