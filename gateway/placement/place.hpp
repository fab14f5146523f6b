#pragma once
#include <string>
#include <vector>

#include "gateway/placement/decision.hpp"
#include "gateway/placement/health_board.hpp"

namespace sandgate {

// Where a sandbox came to be.
struct Placed {
  DeploymentPtr deployment;
  BackendSandbox sandbox;
};

// How a placement ended; `attempts` in the order they were started, whatever the end.
struct Placement {
  std::optional<Placed> placed;
  std::optional<Error> error;  // why not, when not placed
  std::vector<Attempt> attempts;
};

// Whether another deployment may do better: rate_limited, no_capacity, unavailable and timeout;
// and not_found and unsupported, which rule out this one only (an image or size it lacks).
bool worth_another(ErrorCode code);

// Creates on the first ranked candidate that accepts. Each attempt ends at its deployment's
// deadline, the whole at fallback.deadline_ms; with hedge_after_ms the next candidate starts while
// the one before still tries, and whoever comes late is killed. `spec` needs no image and no ttl:
// each deployment has its own. `board` outlives attempts that are still under way at the end.
Task<Placement> place(Decision decision, CreateSpec spec, HealthBoard& board);

// The deployments that place may try for this decision, in order: what the intention row names.
std::vector<std::string> planned(const Decision& decision);

// What a backend is told to keep a sandbox: longer than Sandgate's own TTL, which comes first.
std::chrono::seconds backend_ttl(std::chrono::seconds ttl, const Descriptor& descriptor);

}  // namespace sandgate
