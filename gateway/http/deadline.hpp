#pragma once
#include <time.h>

#include <chrono>
#include <cstdint>

namespace sandgate::http {

// Milliseconds of the coarse monotonic clock: about 4 ms exact, and cheap enough for every read.
inline int64_t coarse_now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

// When whatever a connection waits for has taken too long. Checked by Patrol, so that setting one
// costs no timer.
class Deadline {
 public:
  // A limit of zero never passes.
  void arm(std::chrono::milliseconds limit) {
    at_ms_ = limit.count() == 0 ? 0 : coarse_now_ms() + limit.count();
  }
  void disarm() { at_ms_ = 0; }
  bool passed(int64_t now_ms) const { return at_ms_ != 0 && now_ms >= at_ms_; }

 private:
  int64_t at_ms_ = 0;
};

}  // namespace sandgate::http
