#pragma once
#include <set>
#include <string>

#include "gateway/sandboxes/lifecycle.hpp"

namespace sandgate {

// Ends a sandbox that the registry has no use for, known of since `seen`; what it cost is a loss.
// Throws when database or backend do not answer: what was noted of it then waits for the next time.
Task<void> kill_orphan(Lifecycle& lifecycle, DeploymentPtr deployment, BackendSandbox orphan,
                       Time seen);

// Books what a killer that died half way left: orphans that the backend neither lists nor finds.
Task<void> book_ended_orphans(Lifecycle& lifecycle, DeploymentPtr deployment,
                              std::set<std::string> listed);

}  // namespace sandgate
