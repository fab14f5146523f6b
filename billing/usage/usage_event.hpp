#pragma once
#include <string>

#include "billing/prices/rating.hpp"
#include "billing/usage/interval.hpp"
#include "gateway/core/ids.hpp"

namespace sandgate {

// A rated piece of usage. Deployment and profile follow from the sandbox.
struct UsageEvent {
  SandboxId sandbox;
  std::string tenant;  // the sandbox's
  MeterKind meter = MeterKind::vcpu_second;
  Interval interval;  // empty (from = to) for an event of one moment
  Decimal quantity;
  Decimal before;  // quantity of this sandbox and meter before the interval
  Rated rated;
};

// A deterministic id, so that booking the same usage twice gives the same id: UUID version 5 of
// "<sandbox>|<meter>|<interval start in µs>". The database checks it.
std::string usage_event_id(const UsageEvent& event);
// The same for a loss, with the backend's id: one sandbox may have been several at backends.
std::string loss_event_id(const UsageEvent& event, const std::string& backend_id);

}  // namespace sandgate
