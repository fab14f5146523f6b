#pragma once
#include <string>
#include <vector>

#include "gateway/placement/decision.hpp"
#include "gateway/placement/discard_sandbox.hpp"
#include "gateway/placement/health_board.hpp"

namespace sandgate {

// Where a sandbox was created.
struct Placed {
  DeploymentPtr deployment;
  BackendSandbox sandbox;
};

// Result of a placement; `attempts` in the order of their start.
struct Placement {
  std::optional<Placed> placed;
  std::optional<Error> error;  // set if not placed
  std::vector<Attempt> attempts;
};

// Whether another deployment may succeed: rate_limited, no_capacity, unavailable and timeout; and
// not_found and unsupported, which concern one deployment (an image or size it lacks).
bool can_fail_over(ErrorCode code);

// Creates on the first candidate by rank that accepts. Each attempt is limited by its deployment's
// deadline, all together by fallback.deadline_ms. With hedge_after_ms the next candidate starts
// while the previous one is tried; late sandboxes are discarded. Image and ttl of `spec` are set
// per deployment. `board`, and what `discard` uses, must outlive attempts that are still under way
// on return.
Task<Placement> place(Decision decision, CreateSpec spec, HealthBoard& board,
                      DiscardSandbox discard = discard_sandbox);

// Names of the deployments that place() may try, in order, for the intention's row.
std::vector<std::string> planned(const Decision& decision);

// The TTL for the backend: 60 s above Sandgate's own, which ends first, within the backend's
// maximum.
std::chrono::seconds backend_ttl(std::chrono::seconds ttl, const Descriptor& descriptor);

// The longest TTL of a sandbox there, in seconds; 0: any. What is to be paused when it is over
// needs those 60 s, or its backend would end it first.
int64_t longest_ttl(const Descriptor& descriptor, EndAction on_expiry);

}  // namespace sandgate
