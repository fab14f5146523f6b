#pragma once
#include "local/namespaces/launch_spec.hpp"

namespace sandgate {

// Brings up the loopback of the caller's network namespace, its only interface. Throws StepError.
void bring_loopback_up();

// Limits listen backlogs (256), initial receive buffers (16 KiB) and the options of a socket
// (4 KiB): no control group is charged for unaccepted connections and for options. Ignores settings
// that cannot be written.
void bound_uncounted(const LaunchSpec& spec);

}  // namespace sandgate
