#pragma once
#include <vector>

#include "billing/usage/meter.hpp"
#include "billing/usage/usage_event.hpp"

namespace sandgate {

// The metering state of one sandbox: its row of metered_sandbox.
struct MeteredLife {
  SandboxId id;
  std::string tenant, deployment, provider, region;
  MeterState state = MeterState::running;
  bool closed = false;
  bool own = false;  // see PriceScope
  Resources resources;
  Time opened_at;
  Time boundary;  // everything before it is booked; nothing yet when it equals opened_at
  std::optional<Time> ends_at;  // expiry: nothing is booked beyond it, however late the end
  std::optional<Time> unbooked_end;  // its end, until usage is booked up to there
  Decimal vcpu_total, memory_total, disk_total;  // booked so far

  // What is charged for in the present state: a paused one pays for what it keeps.
  Resources charged() const;
  PriceScope scope() const { return {tenant, provider, deployment, region, own}; }
  // The next `quantity` of a meter as a rated event; `total` is what was used of it before, and
  // comes to include it.
  UsageEvent use(const PriceSnapshot& prices, MeterKind meter, Interval interval,
                 const Decimal& quantity, Decimal& total) const;
};

// Returns the rated events from the boundary to `until`, cut into at most `max_pieces` intervals,
// and advances boundary and totals. A quantity of 0 gives no event; the first call also gives
// sandbox_created. Pure: the same life, prices and moment give the same events.
std::vector<UsageEvent> book(MeteredLife& life, Time until, const PriceSnapshot& prices,
                             size_t max_pieces);

}  // namespace sandgate
