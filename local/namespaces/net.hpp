#pragma once

namespace sandgate {

// Brings up the loopback of the caller's network namespace, its only interface. Throws StepError.
void bring_loopback_up();

// Limits listen backlogs (256) and initial receive buffers (16 KiB): no control group is charged
// for unaccepted connections. Ignores settings that cannot be written.
void bound_unaccepted();

}  // namespace sandgate
