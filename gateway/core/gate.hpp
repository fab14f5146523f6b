#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "gateway/core/async.hpp"

namespace sandgate {

// Opens once. Any number of coroutines, each on its own executor, may wait for that. Waiting does
// not heed cancellation: whoever makes a gate sees to it that it opens soon.
class Gate {
 public:
  Task<void> wait() {
    return asio::async_initiate<const asio::use_awaitable_t<>, void()>(
        [this](auto handler) {
          auto shared = std::make_shared<decltype(handler)>(std::move(handler));
          const auto executor = asio::get_associated_executor(*shared);
          // Work is outstanding until the handler runs, so the loop of the waiter goes on.
          auto resume = [shared, guard = asio::make_work_guard(executor)] {
            asio::post(guard.get_executor(), [shared] { std::move (*shared)(); });
          };
          if (!enqueue(resume)) resume();
        },
        asio::use_awaitable);
  }

  void open() {
    std::vector<std::function<void()>> waiting;
    {
      std::lock_guard lock(mutex_);
      open_ = true;
      waiting.swap(waiting_);
    }
    for (const auto& resume : waiting) resume();
  }

 private:
  bool enqueue(std::function<void()> resume) {
    std::lock_guard lock(mutex_);
    if (open_) return false;
    waiting_.push_back(std::move(resume));
    return true;
  }

  std::mutex mutex_;
  bool open_ = false;
  std::vector<std::function<void()>> waiting_;
};

}  // namespace sandgate
