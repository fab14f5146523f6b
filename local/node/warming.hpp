#pragma once
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "local/node/warm_pool.hpp"

namespace sandgate {

// Keeps a pool as full as it should be: one thread that makes what is missing and ends what is too
// much, a second later at most.
class Warming {
 public:
  struct Work {
    std::function<std::string(const SeatClass&)> make;  // the seat's id; throws when it cannot
    std::function<void(const std::string&)> end;
  };
  Warming(WarmPool& pool, Work work);
  ~Warming();  // after the seat being made, if one is; those that wait stay

  void wake();  // somebody took a seat or found none

 private:
  void run(const std::stop_token& stop);
  void fill(const std::stop_token& stop);

  WarmPool& pool_;
  const Work work_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  bool asked_ = false;  // guarded by mutex_
  std::jthread thread_;  // last: it uses the others
};

}  // namespace sandgate
