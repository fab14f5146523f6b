#pragma once
#include "local/node/settings.hpp"

namespace sandgate {

// The privileged process: makes and ends sandboxes for whoever serve's user is, adopting at start
// what an earlier one left running. Returns 0 when told to stop by SIGTERM or SIGINT (sandboxes
// live on), 1 with a logged reason when this machine cannot run sandboxes.
int run_node(NodeSettings settings);

}  // namespace sandgate
