#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "gateway/cli/terminal/console.hpp"

namespace sandgate::cli {

// A progress line on the error stream. Shown on terminals only, after the first second; redrawn at
// most ten times a second and erased at the end.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  // `total` in bytes; empty if unknown.
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

// Formats "512 B" or "1.5 MiB", with one decimal above the first unit.
std::string size_text(uint64_t bytes);

}  // namespace sandgate::cli
