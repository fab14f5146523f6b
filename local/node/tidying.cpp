#include "local/node/tidying.hpp"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "local/node/errands.hpp"

namespace sandgate {
namespace {

constexpr size_t kThreads = 4;
constexpr size_t kAtOnce = 2;  // unless overdue

}  // namespace

Tidying::Tidying(Times times) : times_(times), pool_(kThreads), post_(errands_on(pool_)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  pthread_setname_np(thread_.native_handle(), "tidying");
}

Tidying::~Tidying() = default;

void Tidying::add(Work work) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({std::move(work), Clock::now() + times_.patience});
  // Otherwise the thread sleeps until the oldest is due, and this is not.
  if (waiting_.size() == 1 || waiting_.size() > kMostWaiting) changed_.notify_one();
}

void Tidying::disturb() {
  const std::lock_guard lock(mutex_);
  disturbed_ = Clock::now();
}

void Tidying::finish() {
  {
    const std::lock_guard lock(mutex_);
    while (!waiting_.empty()) start_oldest();
  }
  pool_.join();
}

Tidying::Clock::time_point Tidying::next_start() const {
  if (waiting_.size() > kMostWaiting) return Clock::time_point::min();
  const Clock::time_point overdue = waiting_.front().overdue;
  return running_ < kAtOnce ? std::min(overdue, disturbed_ + times_.quiet) : overdue;
}

void Tidying::start_oldest() {
  ++running_;
  post_([this, work = std::move(waiting_.front().work)] {
    struct End {
      Tidying& self;
      ~End() {
        const std::lock_guard lock(self.mutex_);
        --self.running_;
        self.changed_.notify_one();
      }
    } end{*this};
    work();
  });
  waiting_.pop_front();
}

void Tidying::run(const std::stop_token& stop) {
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
