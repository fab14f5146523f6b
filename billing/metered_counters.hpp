#pragma once
#include <optional>

#include "billing/meter.hpp"

namespace sandgate {

// What a sandbox's backend counts by itself: what was seen last, and what was booked of it.
struct MeteredCounters {
  SandboxId id;
  std::string tenant, deployment, provider, region;
  bool own = false;  // see PriceScope
  Time observed_at;  // booked up to here
  Time read_at;  // of what was seen last, by its reader's clock
  std::optional<Time> ended_at;  // metering has ended
  // Running since the last look stopped there, and went on there.
  std::optional<Time> paused_from, resumed_at;
  int64_t egress_bytes_seen = 0, cpu_micros_seen = 0;
  Decimal egress_total, cpu_total;

  // Rates what was counted since the last look and takes the new readings over, spread evenly over
  // the running time since: no event reaches over a pause, a quarter of an hour or a price change.
  // A reading below the last one is a counter that began anew. Nothing when `now` is not after the
  // last look, the reading is not newer than the last, or metering ended too long ago.
  std::vector<UsageEvent> take(const Meter::Measured& totals, Time now,
                               const PriceSnapshot& prices);

 private:
  std::vector<Interval> running_until(Time until, const PriceSnapshot& prices) const;
};

// Locks the row until the transaction ends; empty when there is none.
std::optional<MeteredCounters> lock_counters(pqxx::work& tx, const SandboxId& id);
void update_counters(pqxx::work& tx, const MeteredCounters& counters);
// Running stops, or goes on.
void mark_pause(pqxx::work& tx, const SandboxId& id, Time at);
void mark_resume(pqxx::work& tx, const SandboxId& id, Time at);

}  // namespace sandgate
