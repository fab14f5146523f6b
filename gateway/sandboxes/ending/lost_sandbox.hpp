#pragma once
#include "gateway/sandboxes/lifecycle_parts.hpp"

namespace sandgate {

// A sandbox that is gone from its backend though nobody asked for its end.
struct LostSandbox {
  SandboxId id;
  std::string detail;  // for SandboxFailure
  std::optional<Meter::Measured> death;  // when the backend reports it; empty: it is lost now
};

// Records the sandbox as `failed` with backend_lost and ends its charge at its death, or at the end
// of its TTL if that was before. While the database is away, in the outage journal. No effect on
// one that is ending.
Task<void> note_lost(const LifecycleParts& parts, LostSandbox lost);

// Ends a sandbox whose machine gave its last sign of life at `seen`: as lost, unless its end was
// asked for. Nobody can ask the machine. The charge ends at `seen`, or where it is booked to.
Task<void> note_lost_with_machine(const LifecycleParts& parts, SandboxId id, Time seen);

}  // namespace sandgate
