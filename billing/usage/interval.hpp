#pragma once
#include <vector>

#include "gateway/core/time.hpp"

namespace sandgate {

struct Interval {
  Time from, to;
  bool operator==(const Interval&) const = default;
};

// Cuts a stretch of time at every quarter of an hour, so that each piece lies in one day of every
// time zone, and at the given moments (ascending). At most `max_pieces`, the earliest; none when
// the stretch is empty or runs backwards.
std::vector<Interval> split_interval(Interval stretch, const std::vector<Time>& moments,
                                     size_t max_pieces);

}  // namespace sandgate
