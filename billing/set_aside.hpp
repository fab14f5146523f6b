#pragma once
#include <chrono>
#include <string>

#include "billing/price_snapshot.hpp"

namespace sandgate {

struct MeteredRow;

// For how long money is set aside at once.
inline constexpr std::chrono::hours kSetAside{1};

// What a run is charged, and how much of that follows from time at the unit prices alone: the
// difference is creates, minimums and rounding, less what is included.
struct RunCharge {
  Decimal charge, by_time;
};

// What a sandbox that begins at `at` is charged at most for min(ttl, kSetAside) of running, by all
// prices that are published; where some begin within `late` from then, also as if it began so much
// later. Of one that may run on, a step of each rounding more. Without what is charged in another
// currency, or for bytes sent.
RunCharge most_to_set_aside(const PriceSnapshot& prices, const PriceScope& scope,
                            const Resources& size, Time at, std::chrono::seconds late,
                            std::chrono::seconds ttl, const std::string& currency);

// What the rest of a run comes to that is metered as `row` says, from what is booked of it to
// `until`, by all prices that are published: what its events will be rated at, its processors fully
// busy. Of one that may run on, as above.
RunCharge rest_to_set_aside(const PriceSnapshot& prices, MeteredRow row, Time until,
                            bool may_run_on, const std::string& currency);

}  // namespace sandgate
