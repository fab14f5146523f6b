#pragma once
#include <algorithm>
#include <chrono>

#include "gateway/core/async.hpp"

namespace sandgate {

// The time between two questions about something that takes milliseconds or minutes: each is half
// as long again as the one before. How often to ask is the caller's to bound, by its own deadline.
class GrowingPause {
 public:
  explicit GrowingPause(std::chrono::milliseconds first = std::chrono::milliseconds(40),
                        std::chrono::milliseconds last = std::chrono::seconds(1))
      : next_(first), last_(last) {}

  Task<void> wait() {
    const auto now = next_;
    next_ = std::min(next_ * 3 / 2, last_);
    return sleep_for(now);
  }

 private:
  std::chrono::milliseconds next_;
  const std::chrono::milliseconds last_;
};

}  // namespace sandgate
