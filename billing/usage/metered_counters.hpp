#pragma once
#include <optional>

#include "billing/usage/metered_life.hpp"

namespace sandgate {

// The state of a sandbox's backend counters: the last reading, and what is booked of them.
struct MeteredCounters {
  Time observed_at;  // booked up to here
  // Of the last reading, by its reader's clock. The epoch: none was taken, or missed.
  Time read_at;
  // The pause since the last reading: when running stopped and when it went on.
  std::optional<Time> paused_from, resumed_at;
  int64_t egress_bytes_seen = 0, cpu_micros_seen = 0;
  Decimal egress_total, cpu_total;
  bool is_cut = false;  // an implausible reading was cut

  // Rates the increase of the counters since the last reading and stores the new one. It is spread
  // evenly over the running time since; no event spans a pause, a quarter of an hour or a price
  // change. The part after `until` is not charged. A smaller total is a counter that restarted at
  // 0. More than is possible in that time (`most_egress` in Gbit/s, the processors) is cut. Of
  // processor time no more is charged than the size asked for comes to in the running time, which
  // is what budgets set aside; five seconds of what is left over count with the next reading. No
  // events when `until` is not after `observed_at` (once the sandbox's time is over the increase is
  // never charged), or the reading is not newer than the last or more than 5 s ahead of `rating`'s
  // clock.
  std::vector<UsageEvent> take(const MeteredLife& life, const Meter::Measured& totals, Time until,
                               const PriceBooks::RatingContext& rating, int64_t most_egress);

  // Records that running stops, or goes on. Of two pauses between readings only the later is kept.
  void pause(Time at);
  void resume(Time at);

  // The pieces of time that a reading of `sampled_at` is spread over; a last one after `until` is
  // not charged.
  std::vector<Interval> running_until(Time until, Time sampled_at,
                                      const PriceSnapshot& prices) const;

 private:
  // Stores a reading whose increase is not charged.
  void pass_over(const Meter::Measured& totals);
  // The increase since `seen`, cut to `per_micro` a microsecond. `span`: from the start of counting
  // to the reading.
  int64_t counted(int64_t seen, int64_t reading, int64_t per_micro, Interval span);
  // The processor time to charge for `pieces`, after a reading at the end of `span`.
  int64_t busy_until(const Resources& size, int64_t reading, const std::vector<Interval>& pieces,
                     Interval span);
};

}  // namespace sandgate
