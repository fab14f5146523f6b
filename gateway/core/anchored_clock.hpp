#pragma once
#include <atomic>

#include "gateway/core/time.hpp"

namespace sandgate {

// The database's time without asking for it: what it was at the last anchor(), and the steady time
// that has passed since. A step of this machine's clock does not move it. Thread-safe.
class AnchoredClock : public Clock {
 public:
  // `asked` is when the database was asked, and it answers `database_now`.
  void anchor(Time database_now, std::chrono::steady_clock::time_point asked) {
    offset_ = to_micros(database_now) - micros_of(asked);
    anchored_ = true;
  }
  bool anchored() const { return anchored_; }
  // The system's clock until it was anchored for the first time.
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
