#pragma once
#include "gateway/core/fd.hpp"
#include "local/namespaces/launch_spec.hpp"

namespace sandgate {

// Brings up the loopback of the caller's network namespace, its only interface, with a second
// address, for which programs find names with AI_ADDRCONFIG. Throws StepError.
void bring_loopback_up();

// Limits listen backlogs (256), receive buffers (16 KiB at first, 1 MiB at most) and the options of
// a socket (4 KiB): no control group is charged for unaccepted connections and for options, and
// what the egress process has not read is not the sandbox's. Turns transmit timestamps off. Ignores
// settings that cannot be written.
void limit_network_buffers(const LaunchSpec& spec);

// Whether the sandbox's first process makes its network, for want of a privileged launcher. Its
// user namespace owns that.
bool makes_own_network(const LaunchSpec& spec);

// Makes a network namespace with both, in which whoever is in it may use all ports, and which
// belongs to the caller's user namespace, so that nobody in a sandbox has any right over it. It is
// made from kParentNetnsFd. The calling process, which has one thread, stays in its
// own. Throws StepError.
Fd make_network(const LaunchSpec& spec);

}  // namespace sandgate
