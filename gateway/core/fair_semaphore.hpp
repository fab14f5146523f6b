#pragma once
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "gateway/core/async.hpp"

namespace sandgate {

// A fair semaphore for coroutines: at most `most` holders in total and `each` holders per name.
// Waiting names are served round-robin, regardless of how many wait for each. Single-threaded.
class FairSemaphore {
 public:
  // Held until it is destroyed, at the latest before the semaphore.
  class Slot {
   public:
    Slot(Slot&& other) noexcept
        : all_(std::exchange(other.all_, nullptr)), name_(std::move(other.name_)) {}
    ~Slot() {
      if (all_) all_->release(name_);
    }

   private:
    friend class FairSemaphore;
    Slot(FairSemaphore& all, std::string name) : all_(&all), name_(std::move(name)) {}

    FairSemaphore* all_;  // null once moved from
    std::string name_;
  };

  FairSemaphore(size_t most, size_t each) : most_(most), each_(each) {}

  // Waits for a slot. Throws operation_aborted when it is cancelled before it gets one.
  Task<Slot> acquire(std::string name);

 private:
  using Timer = asio::steady_timer;
  struct Line {
    size_t held = 0;
    std::deque<std::shared_ptr<Timer>> waiting;  // each is set to fire when it gets a slot
  };
  void release(const std::string& name);
  void leave(const std::string& name, const std::shared_ptr<Timer>& place);
  void wake_next();

  const size_t most_, each_;
  size_t held_ = 0;
  std::map<std::string, Line> lines_;  // names that hold a slot or wait for one
  std::list<std::string> waiting_;  // names with waiters, the next to be served first
};

}  // namespace sandgate
