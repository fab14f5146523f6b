#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "billing/prices/price_snapshot.hpp"

namespace sandgate {

struct MeteredRow;

// The longest time that money is set aside for at once.
inline constexpr std::chrono::hours kReservationHorizon{1};

// The charge of a run, and the part of it that is time at the unit prices. The difference is
// creates, minimums and rounding, less what is included.
struct RunCharge {
  Decimal charge, by_time;
};

// The highest charge in `currency` of a sandbox that begins at `at`, for min(ttl,
// kReservationHorizon) of running, by all published prices; also for a begin that is `late` later
// when prices change until then. A longer `ttl` adds a step of each rounding. Egress and other
// currencies are left out.
RunCharge estimate_new_run(const PriceSnapshot& prices, const PriceScope& scope,
                           const Resources& size, Time at, std::chrono::seconds late,
                           std::chrono::seconds ttl, const std::string& currency);

// The rest of a sandbox's time, of which money is set aside for a part.
struct RemainingRun {
  Time until;  // the end of that part
  bool may_run_on = false;  // there is more: adds a step of each rounding
  std::optional<Time> resumes_at;  // of a paused one that is to run again
};

// The charge in `currency` of what is not booked yet of the sandbox `row`, by all published prices,
// with its processors fully busy while it runs.
RunCharge estimate_remaining_run(const PriceSnapshot& prices, MeteredRow row,
                                 const RemainingRun& rest, const std::string& currency);

// The charge at unit prices of processor time that is booked as time but not counted yet, as if
// the processors were busy; negative: counted, but not booked as time yet. Before a reading was
// taken or missed (see Meter::miss) only of the last two minutes: the backend may not count.
Money uncounted_time(const PriceSnapshot& prices, const MeteredRow& row);

// The highest charge that a last reading may still come to for time that is booked, as if the
// processors were busy since the reading before it; since when, as for uncounted_time().
Money last_reading_charge(const PriceSnapshot& prices, const MeteredRow& row);

}  // namespace sandgate
