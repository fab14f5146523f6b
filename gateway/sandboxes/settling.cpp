#include "gateway/sandboxes/settling.hpp"

#include "gateway/core/one_shot_event.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kLookAfter{20};
constexpr int kMostLooks = 250;

}  // namespace

struct Settling::Look {
  OneShotEvent done;
  CachedSandboxPtr found;
  std::exception_ptr failure;
};

Task<CachedSandboxPtr> Settling::look_again(SandboxId id) {
  std::shared_ptr<Look> look;
  bool first = false;
  {
    std::lock_guard lock(mutex_);
    auto& known = looks_[id.value];
    first = !known;
    if (first) known = std::make_shared<Look>();
    look = known;
  }
  if (first) spawn_detached(asio::make_strand(executor_), carry_out(look, std::move(id)));
  co_await look->done.wait();
  if (look->failure) std::rethrow_exception(look->failure);
  co_return look->found;
}

std::shared_ptr<void> Settling::mark_pausing(const SandboxId& id) {
  std::lock_guard lock(mutex_);
  marked_.insert(id.value);
  return std::shared_ptr<void>(nullptr, [this, id = id.value](void*) {
    std::lock_guard again(mutex_);
    marked_.erase(marked_.find(id));
  });
}

bool Settling::is_marked(const SandboxId& id) {
  std::lock_guard lock(mutex_);
  return marked_.contains(id.value);
}

Task<void> Settling::until_unmarked(SandboxId id) {
  for (int looks = 0; looks < kMostLooks && is_marked(id); ++looks) co_await sleep_for(kLookAfter);
}

Task<void> Settling::carry_out(std::shared_ptr<Look> look, SandboxId id) {
  co_await sleep_for(kLookAfter);
  {
    // A waiter that comes after the read has begun needs a later one.
    std::lock_guard lock(mutex_);
    looks_.erase(id.value);
  }
  try {
    look->found = co_await cache_.find(std::move(id));
  } catch (const std::exception&) {
    look->failure = std::current_exception();
  }
  look->done.set();
}

}  // namespace sandgate
