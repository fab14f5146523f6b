#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <semaphore>
#include <thread>
#include <utility>

#include "gateway/core/async.hpp"
#include "local/node/warm_pool.hpp"

namespace sandgate {

// Keeps a warm pool at its target: makes missing seats, several at once where the pool allows it,
// and ends surplus ones within a second.
class Warming {
 public:
  // Seats that are made at once at most: that is mostly work of the kernel, much of it under locks
  // that the whole machine shares.
  static constexpr size_t kMakers = 4;
  struct Work {
    std::function<std::string(const SeatClass&)> make;  // returns the seat's id; throws on failure
    std::function<void(const std::string&)> end;
  };
  // The pool outlives it.
  Warming(WarmPool& pool, Work work, size_t processors = std::thread::hardware_concurrency());
  ~Warming();  // waits for the seats being made; ends no seats

  void wake();  // to be called after WarmPool::take()

 private:
  void run(const std::stop_token& stop);
  void fill(const std::stop_token& stop);
  void get_help(const std::stop_token& stop);
  void make(const SeatClass& wanted);

  WarmPool& pool_;
  const Work work_;
  std::counting_semaphore<kMakers> idle_helpers_;
  asio::thread_pool helpers_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  bool asked_ = false;  // guarded by mutex_
  std::jthread thread_;  // last: uses the other members
};

}  // namespace sandgate
