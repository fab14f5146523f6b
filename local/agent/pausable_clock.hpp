#pragma once
#include <chrono>

#include "gateway/core/fd.hpp"

namespace sandgate::agent {

// A steady clock that stands still while this process is frozen with its sandbox: the agent's time
// limits are of the time in which programs can run. The kernel's timers go on, so whoever is woken
// by one asks this clock whether it is time. Learns of pauses by kPauseSignal.
class PausableClock {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  PausableClock();  // blocks kPauseSignal; throws Error(internal)

  Instant now();  // never goes back
  // Whether `file` becomes readable, or its other end closes, within `limit` of this clock.
  bool is_readable_within(int file, std::chrono::milliseconds limit);

 private:
  bool take_pauses();  // whether there were any

  Fd pauses_;
  Instant began_ = std::chrono::steady_clock::now(), latest_ = began_;
  std::chrono::steady_clock::duration paused_{0};
};

}  // namespace sandgate::agent
