#pragma once
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "gateway/core/async.hpp"

namespace sandgate {

// A fair semaphore for coroutines: at most `most` holders in total and `each` holders per name.
// Waiting names are served round-robin, regardless of how many wait for each. Single-threaded.
class FairSemaphore {
 public:
  FairSemaphore(size_t most, size_t each) : most_(most), each_(each) {}

  // Waits for a slot, which release() gives back. Must not be cancelled.
  Task<void> acquire(std::string name);
  void release(const std::string& name);

 private:
  using Timer = asio::steady_timer;
  struct Line {
    size_t held = 0;
    std::deque<std::shared_ptr<Timer>> waiting;  // each is set to fire when it gets a slot
  };
  void wake_next();

  const size_t most_, each_;
  size_t held_ = 0;
  std::map<std::string, Line> lines_;  // names that hold a slot or wait for one
  std::list<std::string> waiting_;  // names with waiters, the next to be served first
};

}  // namespace sandgate
