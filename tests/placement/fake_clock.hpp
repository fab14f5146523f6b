#pragma once
#include "gateway/core/time.hpp"

namespace sandgate::test {

// Stands still until it is told to go on.
class FakeClock : public Clock {
 public:
  Time now() const override { return now_; }
  void advance(std::chrono::microseconds by) { now_ += by; }

 private:
  Time now_{std::chrono::hours(480'000)};
};

}  // namespace sandgate::test
