#include "gateway/cli/terminal/progress.hpp"

#include <algorithm>
#include <array>

namespace sandgate::cli {
namespace {

constexpr auto kTimeout = std::chrono::seconds(1);
constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr uint64_t kBarWidth = 30;

std::string bar(uint64_t done, uint64_t total) {
  const uint64_t filled = total == 0 ? kBarWidth : std::min(done, total) * kBarWidth / total;
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "]";
}

}  // namespace

Progress::Progress(const Console& console, std::string label, std::optional<uint64_t> total,
                   Clock::time_point started)
    : console_(console),
      label_(printable(label)),
      total_(total),
      started_(started),
      drawn_(started) {}

Progress::~Progress() {
  if (visible_) console_.err << "\r\x1b[K" << std::flush;
}

void Progress::update(uint64_t done, Clock::time_point now) {
  // Drawing takes what colours take: a terminal that knows escapes.
  if (!console_.error_terminal || !console_.coloured || now - started_ < kTimeout) return;
  if (visible_ && now - drawn_ < kRedraw) return;
  visible_ = true;
  drawn_ = now;
  const auto seconds = std::max<int64_t>(
      1, std::chrono::duration_cast<std::chrono::seconds>(now - started_).count());
  console_.err << "\r\x1b[K" << label_ << "  ";
  if (total_)
    console_.err << bar(done, *total_) << "  " << size_text(done) << " of " << size_text(*total_);
  else
    console_.err << size_text(done);
  console_.err << "  " << size_text(done / static_cast<uint64_t>(seconds)) << "/s" << std::flush;
}

std::string size_text(uint64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  uint64_t tenths = bytes * 10;
  while (tenths >= 10240 && unit + 1 < kUnits.size()) {
    tenths /= 1024;
    ++unit;
  }
  std::string text = std::to_string(tenths / 10);
  if (unit > 0) text += "." + std::to_string(tenths % 10);
  return text + " " + kUnits[unit];
}

}  // namespace sandgate::cli
