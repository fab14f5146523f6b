#pragma once
#include <optional>

#include "billing/metered_life.hpp"

namespace sandgate {

// What a sandbox's backend counts by itself: what was seen last, and what was booked of it.
struct MeteredCounters {
  Time observed_at;  // booked up to here
  Time read_at;  // of what was seen last, by its reader's clock
  // Running since the last look stopped there, and went on there.
  std::optional<Time> paused_from, resumed_at;
  int64_t egress_bytes_seen = 0, cpu_micros_seen = 0;
  Decimal egress_total, cpu_total;
  bool is_cut = false;  // the last readings said more than can be: what was beyond is left out

  // Rates what was counted of `life` since the last look and takes the new readings over, spread
  // evenly over the running time since: no event reaches over a pause, a quarter of an hour or a
  // price change. What falls after `until` is nobody's. A reading below the last one is a counter
  // that began anew; what no machine does in that time (`most_egress` in Gbit/s, its processors) is
  // not believed. Nothing when `until` is not after the last look, or the reading not newer than
  // the last, or ahead of `held`'s clock.
  std::vector<UsageEvent> take(const MeteredLife& life, const Meter::Measured& totals, Time until,
                               const PriceBooks::Held& held, int64_t most_egress);

  // Running stops, or goes on. Of two pauses without a look in between only the later is known.
  void pause(Time at);
  void resume(Time at);

 private:
  // What a reading of `sampled_at` is spread over, of which the part after `until` is nobody's.
  std::vector<Interval> running_until(Time until, Time sampled_at,
                                      const PriceSnapshot& prices) const;
  // What was counted since `seen`, but for what is beyond `per_micro` a microsecond. `span`: from
  // when counting began to the reading.
  int64_t counted(int64_t seen, int64_t reading, int64_t per_micro, Interval span);
};

}  // namespace sandgate
