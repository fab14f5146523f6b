#pragma once
#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// The highest charge of the sandbox on any eligible deployment of the decision.
PlannedCharge highest_charge(const Lifecycle::Parts& parts, const Decision& decision,
                             const SandboxRecord& wanted);
// The highest charge of the run on the deployment where it was placed.
RunCharge start_charge(const Lifecycle::Parts& parts, const SandboxRecord& placed);

}  // namespace sandgate
