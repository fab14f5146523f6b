#pragma once
#include "local/node/settings.hpp"

namespace sandgate {

// The privileged process: makes and ends sandboxes for whoever serve's user is, adopting at start
// what an earlier one left running. Returns 0 when told to stop by SIGTERM or SIGINT (sandboxes
// live on), 1 with a logged reason for what may be better at the next start. Throws Error when this
// machine cannot run sandboxes, with what to do about it.
int run_node(NodeSettings settings);

}  // namespace sandgate
