#pragma once
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace sandgate {

// Bounds how often a line is logged that clients can cause: `most` in each `period`. Thread-safe.
class LogRateLimiter {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  explicit LogRateLimiter(int most, std::chrono::seconds period = std::chrono::seconds(1))
      : most_(most), period_(period) {}

  // Empty: leave this line out. Otherwise write it; the number of lines left out since the last
  // one.
  std::optional<uint64_t> next(Instant now = std::chrono::steady_clock::now()) {
    std::lock_guard lock(mutex_);
    if (!began_ || now - *began_ >= period_) {
      began_ = now;
      written_ = 0;
    }
    if (written_ >= most_) {
      ++left_out_;
      return std::nullopt;
    }
    ++written_;
    return std::exchange(left_out_, 0);
  }

 private:
  const int most_;
  const std::chrono::seconds period_;
  std::mutex mutex_;
  std::optional<Instant> began_;  // of the present period
  int written_ = 0;  // in it
  uint64_t left_out_ = 0;
};

}  // namespace sandgate
