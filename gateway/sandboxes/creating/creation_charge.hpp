#pragma once
#include "gateway/sandboxes/lifecycle_parts.hpp"

namespace sandgate {

// The highest charge of the sandbox on any eligible deployment of the decision.
PlannedCharge highest_charge(const LifecycleParts& parts, const Decision& decision,
                             const SandboxRecord& wanted);
// Rejects the candidates that are too dear for what a budget's refusal says is left in it. False
// when there are none, or no others.
bool reject_unaffordable(const LifecycleParts& parts, Decision& decision,
                         const SandboxRecord& wanted, const Error& refusal);
// The highest charge of the run on the deployment where it was placed.
RunCharge start_charge(const LifecycleParts& parts, const SandboxRecord& placed);

}  // namespace sandgate
