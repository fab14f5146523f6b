#pragma once
#include <atomic>

#include "gateway/core/time.hpp"

namespace sandgate {

// A clock that follows the database's time without querying it. It returns the database time passed
// to the last anchor() plus the steady-clock time elapsed since. Steps of the system clock do not
// affect it. Thread-safe.
class AnchoredClock : public Clock {
 public:
  // `asked` is when the database was queried, `database_now` the time it returned.
  void anchor(Time database_now, std::chrono::steady_clock::time_point asked) {
    offset_ = to_micros(database_now) - micros_of(asked);
    anchored_ = true;
  }
  bool anchored() const { return anchored_; }
  // Returns the system clock's time until the first anchor().
  Time now() const override {
    if (!anchored_) return SystemClock().now();
    return from_micros(offset_ + micros_of(std::chrono::steady_clock::now()));
  }

 private:
  static int64_t micros_of(std::chrono::steady_clock::time_point at) {
    return std::chrono::duration_cast<std::chrono::microseconds>(at.time_since_epoch()).count();
  }

  std::atomic<int64_t> offset_{0};
  std::atomic<bool> anchored_{false};
};

}  // namespace sandgate
