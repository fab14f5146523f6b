#pragma once
#include <algorithm>
#include <chrono>

namespace sandgate::agent {

// Limits a sender to a rate in the long run. After a time in which it sent less, it may send as
// much at once as it would have sent in `burst`.
class Pace {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  Pace(size_t bytes_per_second, std::chrono::seconds burst)
      : per_second_(bytes_per_second), burst_(burst) {}

  // How long to rest after sending these bytes at `now`.
  std::chrono::milliseconds after(size_t bytes, Instant now) {
    using std::chrono::milliseconds;
    const std::chrono::microseconds cost(bytes * 1'000'000 / per_second_);
    due_ = std::max(due_, now - burst_) + cost;
    return std::max(std::chrono::ceil<milliseconds>(due_ - now), milliseconds(0));
  }

 private:
  const size_t per_second_;
  const std::chrono::seconds burst_;
  Instant due_ = Instant::min();
};

}  // namespace sandgate::agent
