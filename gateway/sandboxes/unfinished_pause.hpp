#pragma once
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// For a pause or resume whose result the database did not take. As soon as it answers again, at
// most the lease later, the row's lease is ended, so that the reaper repeats the transition. On our
// own machine the database may have lost the intention; then the row is brought into line with the
// machine. Use of the sandbox through this gateway waits meanwhile, at most 5 s.
void leave_unfinished(Lifecycle& lifecycle, SandboxId id);

}  // namespace sandgate
