#include "local/node/supervisor/deferred_cleanup.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "local/node/server/background_runner.hpp"

namespace sandgate {
namespace {

constexpr size_t kThreads = 4;
constexpr size_t kAtOnce = 2;  // unless overdue
// Work that is overdue while requests come gives way to them, unless it piles up.
constexpr int kNicer = 10;
constexpr size_t kFew = 32;

}  // namespace

DeferredCleanup::DeferredCleanup(Times times)
    : times_(times),
      usual_nice_(getpriority(PRIO_PROCESS, 0)),
      pool_(kThreads),
      post_(background_runner(pool_)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  pthread_setname_np(thread_.native_handle(), "tidying");
}

DeferredCleanup::~DeferredCleanup() = default;

void DeferredCleanup::add(Work work) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({std::move(work), Clock::now() + times_.max_delay});
  // Otherwise the thread sleeps until the oldest is due, and this is not.
  if (waiting_.size() == 1 || waiting_.size() > kMaxWaiting) changed_.notify_one();
}

void DeferredCleanup::note_activity() {
  const std::lock_guard lock(mutex_);
  last_activity_ = Clock::now();
}

void DeferredCleanup::finish() {
  {
    const std::lock_guard lock(mutex_);
    while (!waiting_.empty()) start_oldest();
  }
  pool_.join();
}

DeferredCleanup::Clock::time_point DeferredCleanup::next_start() const {
  if (waiting_.size() > kMaxWaiting) return Clock::time_point::min();
  const Clock::time_point overdue = waiting_.front().overdue;
  return running_ < kAtOnce ? std::min(overdue, last_activity_ + times_.quiet) : overdue;
}

void DeferredCleanup::start_oldest() {
  ++running_;
  const bool may_return = geteuid() == 0;
  const int nice = usual_nice_ + (may_return && waiting_.size() <= kFew ? kNicer : 0);
  post_([this, nice, work = std::move(waiting_.front().work)] {
    struct End {
      DeferredCleanup& self;
      ~End() {
        const std::lock_guard lock(self.mutex_);
        --self.running_;
        self.changed_.notify_one();
      }
    } end{*this};
    setpriority(PRIO_PROCESS, 0, nice);  // of this thread, as Linux has it
    work();
  });
  waiting_.pop_front();
}

void DeferredCleanup::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (waiting_.empty()) {
      changed_.wait(lock, stop, [this] { return !waiting_.empty(); });
      continue;
    }
    const auto due = next_start();
    if (due <= Clock::now())
      start_oldest();
    else
      changed_.wait_until(lock, stop, due, [&] { return waiting_.empty() || next_start() < due; });
  }
}

}  // namespace sandgate
