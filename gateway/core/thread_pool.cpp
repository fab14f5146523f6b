#include "gateway/core/thread_pool.hpp"

#include <utility>

namespace sandgate {

ThreadPool::ThreadPool(size_t count) {
  threads_.reserve(count);
  for (size_t i = 0; i < count; ++i) threads_.emplace_back([this] { serve(); });
}

ThreadPool::~ThreadPool() { join(); }

void ThreadPool::post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(work));
  if (idle_.empty()) return;
  Idle* const warmest = idle_.back();
  idle_.pop_back();
  warmest->is_called = true;
  warmest->wake.notify_one();
}

void ThreadPool::join() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (Idle* idle : std::exchange(idle_, {})) {
      idle->is_called = true;
      idle->wake.notify_one();
    }
  }
  for (std::thread& thread : std::exchange(threads_, {})) thread.join();
}

void ThreadPool::serve() {
  Idle self;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!posted_.empty()) {
      std::function<void()> work = std::move(posted_.front());
      posted_.pop_front();
      lock.unlock();
      work();
      work = nullptr;
      lock.lock();
    } else if (ending_) {
      return;
    } else {
      self.is_called = false;
      idle_.push_back(&self);
      self.wake.wait(lock, [&self] { return self.is_called; });
    }
  }
}

}  // namespace sandgate
