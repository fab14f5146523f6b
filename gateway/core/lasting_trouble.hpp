#pragma once
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace sandgate {

// Paces the log of a trouble that lasts and is met again and again: a line when it begins, one
// every 30 seconds while it goes on, and one when it is over. Of one that comes and goes, lines are
// at least 5 seconds apart. Thread-safe.
class LastingTrouble {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kEvery{30}, kAgain{5};

  // It was met. Empty: leave this line out. Otherwise write it; the number of times that were left
  // out since the last line.
  std::optional<uint64_t> met(Instant now = std::chrono::steady_clock::now()) {
    std::lock_guard lock(mutex_);
    if (told_ && now - *told_ < (since_ ? kEvery : kAgain)) {
      ++left_out_;
      return std::nullopt;
    }
    told_ = now;
    if (!since_) since_ = now;
    return std::exchange(left_out_, 0);
  }

  // It was not met. Empty: nobody was told of it, or of its end already. Otherwise write a line;
  // how long it lasted since it was told of first.
  std::optional<std::chrono::milliseconds> over(Instant now = std::chrono::steady_clock::now()) {
    std::lock_guard lock(mutex_);
    if (!since_) return std::nullopt;
    left_out_ = 0;
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        now - *std::exchange(since_, std::nullopt));
  }

 private:
  std::mutex mutex_;
  std::optional<Instant> told_;  // the last line of its being met
  std::optional<Instant> since_;  // the first of a trouble whose end is not told yet
  uint64_t left_out_ = 0;
};

}  // namespace sandgate
