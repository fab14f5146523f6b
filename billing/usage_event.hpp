#pragma once
#include <string>

#include "billing/interval.hpp"
#include "billing/rating.hpp"
#include "gateway/core/ids.hpp"

namespace sandgate {

// A rated piece of usage. Where it ran and under which profile is known by the sandbox.
struct UsageEvent {
  SandboxId sandbox;
  std::string tenant;  // the sandbox's
  MeterKind meter = MeterKind::vcpu_second;
  Interval interval;  // empty (from = to) for what happens at a moment
  Decimal quantity;
  Decimal before;  // of this sandbox and meter, up to the interval
  Rated rated;
};

// Derived from what is counted, never drawn: whoever books the same thing again finds the same id.
// UUID version 5 of "<sandbox>|<meter>|<interval start in µs>"; the database checks it.
std::string usage_event_id(const UsageEvent& event);
// The same of a loss; one sandbox of ours may have been more than one at backends.
std::string loss_event_id(const UsageEvent& event, const std::string& backend_id);

}  // namespace sandgate
