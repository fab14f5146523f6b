#pragma once
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// What a sandbox comes to at most on whichever of a decision's deployments it is placed.
PlannedCharge highest_charge(const Lifecycle::Parts& parts, const Decision& decision,
                             const SandboxRecord& wanted);
// Where it was placed.
RunCharge start_charge(const Lifecycle::Parts& parts, const SandboxRecord& placed);

}  // namespace sandgate
