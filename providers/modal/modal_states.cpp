#include "providers/backoff.hpp"
#include "providers/modal/modal.hpp"
#include "providers/retries.hpp"

// Snapshots of ModalProvider: disk images, published under a name derived from our snapshot id.
namespace sandgate {
namespace {

constexpr auto kSnapshotDeadline = std::chrono::minutes(3);

// The vendor has two statuses for a missing image.
bool says_no_image(const Error& error) {
  return error.code == ErrorCode::not_found || error.code == ErrorCode::conflict;
}

}  // namespace

Task<void> ModalProvider::publish(std::string image, std::string snapshot_id) {
  const std::string name = modal::snapshot_name(snapshot_id);
  const std::string asked = modal::to_publish(image, name, account_.environment());
  Retries retries;
  for (Backoff pause;; co_await pause.wait()) {
    const auto published = co_await attempt(account_.call("ImagePublish", asked));
    const auto* error = std::get_if<Error>(&published);
    if (!error) co_return;
    retries.failed(*error);
  }
}

Task<BackendSnapshot> ModalProvider::snapshot(std::string id, std::string snapshot_id, Keeps,
                                              bool lasting) {
  const auto taken = co_await find_snapshot(snapshot_id);
  if (taken) co_return *taken;
  const std::string task = co_await routers_.task(id);
  std::string asked = modal::to_snapshot(task, snapshot_id, lasting);
  const std::string reply =
      co_await routers_.call(id, "TaskSnapshotFilesystem", std::move(asked), kSnapshotDeadline);
  BackendSnapshot snapshot{.backend_id = modal::from_id(reply), .kept = Keeps::disk};
  const auto published = co_await attempt(publish(snapshot.backend_id, snapshot_id));
  if (const auto* error = std::get_if<Error>(&published)) {
    // Nobody would find an image without a name again to remove it.
    co_await attempt(remove_snapshot(snapshot.backend_id));
    throw *error;
  }
  co_return snapshot;
}

Task<std::optional<BackendSnapshot>> ModalProvider::find_snapshot(std::string snapshot_id) {
  std::string asked = modal::to_named(modal::snapshot_name(snapshot_id), account_.environment());
  const auto named = co_await attempt(account_.call("ImageGetByTag", std::move(asked)));
  if (const auto* error = std::get_if<Error>(&named)) {
    if (error->code == ErrorCode::not_found) co_return std::nullopt;
    throw *error;
  }
  const std::string image = modal::from_id(std::get<std::string>(named));
  // A name may exist longer than its image.
  const auto found = co_await attempt(account_.call("ImageFromId", modal::to_id(image)));
  if (const auto* error = std::get_if<Error>(&found)) {
    if (says_no_image(*error)) co_return std::nullopt;
    throw *error;
  }
  co_return BackendSnapshot{.backend_id = image, .kept = Keeps::disk};
}

Task<void> ModalProvider::remove_snapshot(std::string snapshot) {
  const auto removed = co_await attempt(account_.call("ImageDelete", modal::to_id(snapshot)));
  const auto* error = std::get_if<Error>(&removed);
  if (error && !says_no_image(*error)) throw *error;
}

}  // namespace sandgate
