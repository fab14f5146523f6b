#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "gateway/core/async.hpp"

namespace sandgate {

// A one-shot event that any number of coroutines, each on its own executor, can wait for. Waiting
// ignores cancellation, so the owner must set it soon. Thread-safe.
class OneShotEvent {
 public:
  Task<void> wait() {
    return asio::async_initiate<const asio::use_awaitable_t<>, void()>(
        [this](auto handler) {
          auto shared = std::make_shared<decltype(handler)>(std::move(handler));
          const auto executor = asio::get_associated_executor(*shared);
          // The guard keeps the waiter's loop running until the handler has run.
          auto resume = [shared, guard = asio::make_work_guard(executor)] {
            asio::post(guard.get_executor(), [shared] { std::move (*shared)(); });
          };
          if (!enqueue(resume)) resume();
        },
        asio::use_awaitable);
  }

  void set() {
    std::vector<std::function<void()>> waiting;
    {
      std::lock_guard lock(mutex_);
      is_set_ = true;
      waiting.swap(waiting_);
    }
    for (const auto& resume : waiting) resume();
  }

 private:
  bool enqueue(std::function<void()> resume) {
    std::lock_guard lock(mutex_);
    if (is_set_) return false;
    waiting_.push_back(std::move(resume));
    return true;
  }

  std::mutex mutex_;
  bool is_set_ = false;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace sandgate
