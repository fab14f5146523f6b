#include "gateway/compat/e2b/watchers.hpp"

#include <algorithm>

#include "gateway/compat/e2b/file_wire.hpp"
#include "gateway/core/json_text.hpp"
#include "gateway/core/random.hpp"
#include "gateway/core/settle.hpp"

namespace sandgate::compat::e2b {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::minutes kForgotten{10};
constexpr std::chrono::seconds kLook{1};
constexpr size_t kEventBytes = 512;  // memory of an event beside its text

}  // namespace

struct Watchers::Watcher {
  Watcher(http::BodyMemoryQuota& of, OpenSandbox in) : box(std::move(in)), room(of) {}

  OpenSandbox box;
  http::BodyMemoryQuota& room;
  std::unique_ptr<FileWatch> watch;
  std::string directory;
  std::shared_ptr<void> permit;

  std::mutex mutex;  // guards the members below
  std::deque<Json> events;
  size_t bytes = 0;  // size of `events` as text
  std::optional<http::BodyMemoryQuota::Reservation> seat;  // of `events`
  std::optional<Error> failure;
  bool removed = false;
  steady_clock::time_point asked_at = steady_clock::now();

  bool is_over() {
    const std::lock_guard lock(mutex);
    return removed || steady_clock::now() - asked_at > kForgotten;
  }

  void keep(std::vector<Json> more) {
    const std::lock_guard lock(mutex);
    for (Json& event : more) {
      bytes += json_text(event).size();
      events.push_back(std::move(event));
    }
    if (!seat) seat.emplace(room, box.tenant.value);
    if (events.size() <= kMaxEvents && bytes <= kMaxBytes &&
        seat->try_grow_to(bytes + events.size() * kEventBytes))
      return;
    drop();
    throw Error(ErrorCode::unavailable, "events were not read");
  }

  // The caller holds the mutex.
  void drop() {
    events.clear();
    bytes = 0;
    seat.reset();
  }

  // Ends the watch and its stream's count; the events so far and the failure stay to be read.
  void fail(Error error) {
    watch.reset();
    permit.reset();
    const std::lock_guard lock(mutex);
    failure = std::move(error);
  }
};

std::string Watchers::add(asio::any_io_executor executor, OpenSandbox box,
                          std::unique_ptr<FileWatch> watch, std::string directory,
                          std::shared_ptr<void> permit) {
  auto watcher = std::make_shared<Watcher>(room_, std::move(box));
  watcher->box.activity.reset();
  watcher->watch = std::move(watch);
  watcher->directory = std::move(directory);
  watcher->permit = std::move(permit);
  const std::string id = "wa" + random_hex(12);
  {
    const std::lock_guard lock(mutex_);
    const auto same = std::count_if(watchers_.begin(), watchers_.end(), [&](const auto& one) {
      return one.second->box.id == watcher->box.id;
    });
    if (static_cast<size_t>(same) >= kMaxPerSandbox)
      throw Error(ErrorCode::quota_exceeded, "the sandbox has too many watchers: remove one");
    watchers_[id] = watcher;
  }
  spawn_detached(executor, [this, watcher, id] { return run(watcher, id); });
  return id;
}

Task<void> Watchers::gather(Shared watcher) {
  try {
    for (;;) {
      auto waiting = translate_failures(watcher->box, watcher->watch->next());
      const auto changes = co_await std::move(waiting);
      if (changes.empty()) throw Error(ErrorCode::not_found, "the directory is gone");
      for (const FileChange& change : changes)
        watcher->keep(change_events(change, watcher->directory));
    }
  } catch (const Error& error) {
    watcher->fail(error);
  }
}

Task<void> Watchers::run(Shared watcher, std::string id) {
  auto waiting = [](Shared of) -> Task<void> {
    while (!of->is_over()) co_await sleep_for(kLook);
  };
  auto both = ends_beside(waiting(watcher), gather(watcher));
  co_await std::move(both);
  const std::lock_guard lock(mutex_);
  watchers_.erase(id);
}

Watchers::Shared Watchers::find(const SandboxId& sandbox, const std::string& watcher) {
  const std::lock_guard lock(mutex_);
  const auto found = watchers_.find(watcher);
  if (found == watchers_.end() || found->second->box.id != sandbox)
    throw Error(ErrorCode::not_found, "no such watcher");
  return found->second;
}

std::vector<Json> Watchers::take(const SandboxId& sandbox, const std::string& watcher) {
  const Shared found = find(sandbox, watcher);
  const std::lock_guard lock(found->mutex);
  found->asked_at = steady_clock::now();
  std::vector<Json> events(std::make_move_iterator(found->events.begin()),
                           std::make_move_iterator(found->events.end()));
  found->drop();
  if (events.empty() && found->failure) throw *found->failure;
  return events;
}

void Watchers::remove(const SandboxId& sandbox, const std::string& watcher) {
  const Shared found = find(sandbox, watcher);
  {
    const std::lock_guard lock(found->mutex);
    found->removed = true;
  }
  const std::lock_guard lock(mutex_);
  watchers_.erase(watcher);
}

}  // namespace sandgate::compat::e2b
