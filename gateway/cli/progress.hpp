#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "gateway/cli/console.hpp"

namespace sandgate::cli {

// A line on the error stream that shows how far a transfer is: only on a terminal, only after the
// first second, redrawn at most ten times a second, wiped at the end.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  // `total` in bytes; empty when nobody knows it.
  Progress(const Console& console, std::string label, std::optional<uint64_t> total,
           Clock::time_point started = Clock::now());
  Progress(const Progress&) = delete;
  ~Progress();

  void update(uint64_t done, Clock::time_point now = Clock::now());

 private:
  const Console& console_;
  std::string label_;
  std::optional<uint64_t> total_;
  Clock::time_point started_;
  Clock::time_point drawn_;
  bool visible_ = false;
};

// "512 B", "1.5 MiB": one decimal above the first unit.
std::string size_text(uint64_t bytes);

}  // namespace sandgate::cli
