#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "local/node/warm_pool.hpp"

namespace sandgate {

// A thread that keeps a warm pool at its target: it makes missing seats and ends surplus ones,
// within a second.
class Warming {
 public:
  struct Work {
    std::function<std::string(const SeatClass&)> make;  // returns the seat's id; throws on failure
    std::function<void(const std::string&)> end;
  };
  Warming(WarmPool& pool, Work work);  // the pool outlives it
  ~Warming();  // waits for a seat being made; ends no seats

  void wake();  // to be called after WarmPool::take()

 private:
  void run(const std::stop_token& stop);
  void fill(const std::stop_token& stop);

  WarmPool& pool_;
  const Work work_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  bool asked_ = false;  // guarded by mutex_
  std::jthread thread_;  // last: uses the other members
};

}  // namespace sandgate
