#pragma once
#include <string>

#include "gateway/placement/deployment.hpp"

namespace sandgate {

// Ends `backend_id`, with which a deployment answered the create of `sandbox_id` and which is not
// kept. One that the backend says carries another id of ours is somebody's sandbox, and left alone.
// Throws what the backend does; the reaper and the sweep end what this did not.
Task<void> end_unwanted(DeploymentPtr deployment, std::string backend_id, std::string sandbox_id);

}  // namespace sandgate
