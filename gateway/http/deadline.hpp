#pragma once
#include <time.h>

#include <chrono>
#include <cstdint>

namespace sandgate::http {

// Milliseconds of the coarse monotonic clock: accurate to about 4 ms and cheap enough for every
// read.
inline int64_t coarse_now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

// The time by which a step of a connection must end. ConnectionSet checks it, so that arming one
// needs no timer.
class Deadline {
 public:
  // A limit of zero disarms it.
  void arm(std::chrono::milliseconds limit) {
    at_ms_ = limit.count() == 0 ? 0 : coarse_now_ms() + limit.count();
  }
  void disarm() { at_ms_ = 0; }
  bool passed(int64_t now_ms) const { return at_ms_ != 0 && now_ms >= at_ms_; }

 private:
  int64_t at_ms_ = 0;
};

}  // namespace sandgate::http
