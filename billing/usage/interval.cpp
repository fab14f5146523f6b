#include "billing/usage/interval.hpp"

#include <algorithm>

namespace sandgate {
namespace {

// Every offset from UTC in use is a multiple of this.
constexpr std::chrono::minutes kQuarter{15};

Time next_quarter(Time at) {
  const auto quarter = std::chrono::duration_cast<std::chrono::microseconds>(kQuarter);
  const auto past = at.time_since_epoch() % quarter;
  return at - past + quarter;
}

}  // namespace

std::vector<Interval> split_interval(Interval stretch, const std::vector<Time>& moments,
                                     size_t max_pieces) {
  std::vector<Interval> pieces;
  auto moment = moments.begin();
  for (Time at = stretch.from; at < stretch.to && pieces.size() < max_pieces;) {
    Time end = std::min(next_quarter(at), stretch.to);
    while (moment != moments.end() && *moment <= at) ++moment;
    if (moment != moments.end()) end = std::min(end, *moment);
    pieces.push_back({at, end});
    at = end;
  }
  return pieces;
}

}  // namespace sandgate
