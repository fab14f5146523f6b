#pragma once
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// Brings the rows of sandboxes on our own machine into line with the machine, on which they may be
// paused or run although their rows say otherwise: a database that failed over may have lost the
// last commits, of pauses and resumes that were answered. Such a sandbox is paused, or resumed, as
// by a call; one that may not run is paused on the machine. `listed`: what the machine has.
// `expected`: running and paused rows. Returns how many differed. Throws Error(unavailable) of the
// database.
Task<size_t> align_states(Lifecycle& lifecycle, DeploymentPtr deployment,
                          std::vector<SandboxRecord> expected, std::vector<BackendSandbox> listed);

// The same for one sandbox, if it is on our own machine, and now. Throws nothing.
Task<void> align_state(Lifecycle& lifecycle, SandboxId id);

// As Lifecycle::refresh(); a running row whose sandbox is paused at its backend becomes paused as
// by a call. The reverse is left alone: no vendor is known to say "paused" of what runs, but some
// say of all that they do not name otherwise that it runs.
Task<CachedSandboxPtr> refresh_state(Lifecycle& lifecycle, TenantId tenant, SandboxId id);

}  // namespace sandgate
