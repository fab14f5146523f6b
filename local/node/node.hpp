#pragma once
#include "local/node/settings.hpp"

namespace sandgate {

// Runs the node, the privileged process that creates and ends sandboxes for serve's user. At start
// it adopts sandboxes that an earlier node left running. Returns 0 after SIGTERM or SIGINT
// (sandboxes keep running), 1 after logging a failure that may be gone at the next start. Throws
// Error, with a remedy, when this machine cannot run sandboxes.
int run_node(NodeSettings settings);

}  // namespace sandgate
