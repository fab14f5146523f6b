#pragma once
#include <string>

#include "gateway/placement/deployment.hpp"

namespace sandgate {

// Kills `backend_id`, a deployment's answer to the create of `sandbox_id`, when it is not kept. A
// sandbox that carries another id of ours is left alone. Throws what the backend throws; the reaper
// and the reconciler kill what remains.
Task<void> discard_sandbox(DeploymentPtr deployment, std::string backend_id,
                           std::string sandbox_id);

}  // namespace sandgate
