#pragma once
#include "local/namespaces/launch_spec.hpp"
#include "local/namespaces/root.hpp"

namespace sandgate {

// Starts the first process of a sandbox in namespaces of its own and returns to the caller, the
// launcher, once that process has everything it needs from outside: ids, control groups, mounts.
// The order is the order of the proofs in the tests: namespaces and limits before the first
// instruction of the sandbox, the privileged mounts by descriptor, the rest by the process itself.
// Sends `started` over kReportFd. `inside` runs in the new process and never returns.
// Throws StepError.
void start_jailed(const LaunchSpec& spec, void (*inside)(const LaunchSpec&));

// Called first thing inside: builds the root, then gives up every privilege. Afterwards the
// process is pid 1, uid 0 of its own user namespace, with the agent's few capabilities, Landlock
// and the seccomp filter, and the descriptors kListenerFd and kReportFd. Returns the one on which
// the sandbox asks for what is counted (see the agent's Gate), if it has to.
Fd enter_jail(const LaunchSpec& spec);

void send_report(const LaunchReport& report, int with_fd = -1);

}  // namespace sandgate
