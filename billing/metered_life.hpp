#pragma once
#include <vector>

#include "billing/meter.hpp"
#include "billing/usage_event.hpp"

namespace sandgate {

// Where the metering of one sandbox stands: its row of metered_sandbox.
struct MeteredLife {
  SandboxId id;
  std::string tenant, deployment, provider, region;
  MeterState state = MeterState::running;
  bool closed = false;
  bool own = false;  // see PriceScope
  Resources resources;
  Time opened_at;
  Time boundary;  // everything before it is booked; nothing is while it is where it was opened
  std::optional<Time> ends_at;  // nothing is booked beyond it, however late it is ended
  std::optional<Time> unbooked_end;  // ended then: to be closed when it is booked up to there
  Decimal vcpu_total, memory_total, disk_total;  // booked so far

  PriceScope scope() const { return {tenant, provider, deployment, region, own}; }
};

// Books the life from its boundary towards `until`, cut and rated, and moves the boundary and the
// totals along; at most `max_pieces` intervals. No event for a meter that stands still; the first
// piece of a life comes with its sandbox_created. Pure: the same life, prices and moment give the
// same events.
std::vector<UsageEvent> book(MeteredLife& life, Time until, const PriceSnapshot& prices,
                             size_t max_pieces);

}  // namespace sandgate
