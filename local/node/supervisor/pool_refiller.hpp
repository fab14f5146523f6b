#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <semaphore>
#include <thread>
#include <utility>

#include "gateway/core/async.hpp"
#include "local/node/supervisor/warm_pool.hpp"

namespace sandgate {

// Keeps a warm pool at its target: makes missing sandboxes, several at once where the pool allows
// it, and ends surplus ones within a second.
class PoolRefiller {
 public:
  // Sandboxes that are made at once at most: that is mostly work of the kernel, much of it under
  // locks that the whole machine shares.
  static constexpr size_t kMaxConcurrent = 4;
  struct Work {
    std::function<std::string(const WarmClass&)> make;  // returns its id; throws on failure
    std::function<void(const std::string&)> end;
  };
  // The pool outlives it.
  PoolRefiller(WarmPool& pool, Work work, size_t processors = std::thread::hardware_concurrency());
  ~PoolRefiller();  // waits for those being made; ends none

  void wake();  // to be called after WarmPool::take()

 private:
  void run(const std::stop_token& stop);
  void fill(const std::stop_token& stop);
  void start_helper(const std::stop_token& stop);
  void make(const WarmClass& wanted);

  WarmPool& pool_;
  const Work work_;
  std::counting_semaphore<kMaxConcurrent> idle_helpers_;
  asio::thread_pool helpers_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  bool asked_ = false;  // guarded by mutex_
  std::jthread thread_;  // last: uses the other members
};

}  // namespace sandgate
