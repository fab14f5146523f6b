#pragma once
#include <atomic>
#include <cstdint>

#include "gateway/core/log_rate_limiter.hpp"
#include "gateway/placement/decision.hpp"

namespace sandgate {

// The log of creates with a deployment whose price is unknown: such a run is not charged, which the
// operator should learn of, but not for every create. At most one line a minute. Thread-safe.
class UnpricedLog {
 public:
  // Logs the first enabled candidate without a price. `refused`: such candidates are not eligible.
  void record(const Decision& decision, bool refused);

  uint64_t creates() const { return creates_; }  // with such a candidate, whether or not refused

 private:
  std::atomic<uint64_t> creates_{0};
  LogRateLimiter pace_{1, std::chrono::minutes(1)};
};

}  // namespace sandgate
