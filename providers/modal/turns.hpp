#pragma once
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace sandgate {

// FIFO queues by key: at each key one holder at a time has its turn. Thread-safe.
class Turns {
 public:
  // A place in the queue of `thing`, held for the object's lifetime. `turns` must outlive it.
  class Turn {
   public:
    Turn(Turns& turns, std::string thing) : turns_(turns), thing_(std::move(thing)) {
      std::lock_guard lock(turns_.mutex_);
      number_ = ++turns_.last_;
      turns_.waiting_[thing_].push_back(number_);
    }
    ~Turn() {
      std::lock_guard lock(turns_.mutex_);
      auto& queue = turns_.waiting_[thing_];
      std::erase(queue, number_);
      if (queue.empty()) turns_.waiting_.erase(thing_);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    bool has_come() const {
      std::lock_guard lock(turns_.mutex_);
      return turns_.waiting_[thing_].front() == number_;
    }

   private:
    Turns& turns_;
    const std::string thing_;
    uint64_t number_ = 0;
  };

 private:
  std::mutex mutex_;
  uint64_t last_ = 0;
  std::map<std::string, std::deque<uint64_t>> waiting_;
};

}  // namespace sandgate
