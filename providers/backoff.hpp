#pragma once
#include <algorithm>
#include <chrono>

#include "gateway/core/async.hpp"

namespace sandgate {

// The pause between polls of something that takes milliseconds to minutes: each pause is 1.5 times
// the one before, up to `last`. The caller bounds the polling with a deadline of its own.
class Backoff {
 public:
  explicit Backoff(std::chrono::milliseconds first = std::chrono::milliseconds(40),
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
