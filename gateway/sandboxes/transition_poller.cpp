#include "gateway/sandboxes/transition_poller.hpp"

#include <set>

#include "gateway/core/one_shot_event.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kPollPause{20};
constexpr int kMaxPolls = 250;

}  // namespace

struct TransitionPoller::Poll {
  OneShotEvent done;
  CachedSandboxPtr found;
  std::exception_ptr failure;
};

struct TransitionPoller::Marks {
  std::mutex mutex;
  std::multiset<std::string> ids;  // of sandboxes
};

TransitionPoller::TransitionPoller(SandboxCache& cache, asio::any_io_executor executor)
    : cache_(cache), executor_(std::move(executor)), marks_(std::make_shared<Marks>()) {}

Task<CachedSandboxPtr> TransitionPoller::poll(SandboxId id) {
  std::shared_ptr<Poll> poll;
  bool first = false;
  {
    std::lock_guard lock(mutex_);
    auto& known = polls_[id.value];
    first = !known;
    if (first) known = std::make_shared<Poll>();
    poll = known;
  }
  if (first) spawn_detached(asio::make_strand(executor_), carry_out(poll, std::move(id)));
  co_await poll->done.wait();
  if (poll->failure) std::rethrow_exception(poll->failure);
  co_return poll->found;
}

std::shared_ptr<void> TransitionPoller::mark_pausing(const SandboxId& id) {
  std::lock_guard lock(marks_->mutex);
  marks_->ids.insert(id.value);
  return std::shared_ptr<void>(nullptr, [marks = marks_, id = id.value](void*) {
    std::lock_guard again(marks->mutex);
    marks->ids.erase(marks->ids.find(id));
  });
}

bool TransitionPoller::is_marked(const SandboxId& id) {
  std::lock_guard lock(marks_->mutex);
  return marks_->ids.contains(id.value);
}

Task<void> TransitionPoller::wait_until_unmarked(SandboxId id) {
  for (int polls = 0; polls < kMaxPolls && is_marked(id); ++polls) co_await sleep_for(kPollPause);
}

Task<void> TransitionPoller::carry_out(std::shared_ptr<Poll> poll, SandboxId id) {
  co_await sleep_for(kPollPause);
  {
    // A waiter that comes after the read has begun needs a later one.
    std::lock_guard lock(mutex_);
    polls_.erase(id.value);
  }
  try {
    poll->found = co_await cache_.find(std::move(id));
  } catch (const std::exception&) {
    poll->failure = std::current_exception();
  }
  poll->done.set();
}

}  // namespace sandgate
