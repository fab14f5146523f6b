#pragma once
#include "local/namespaces/launch_spec.hpp"
#include "local/namespaces/root.hpp"

namespace sandgate {

// Starts the first process of a sandbox in namespaces of its own. Called by the launcher; returns
// once the process has ids, control groups and all mounts but that of its disk. Namespaces and
// cgroup limits apply before the process executes its first instruction, privileged mounts are
// passed by descriptor, and the process does the rest itself. Sends `started` over kReportFd.
// `network` is its network, of make_network(); if empty, one is made. `inside` runs in the new
// process and never returns. Throws StepError.
void start_jailed(const LaunchSpec& spec, Fd network, void (*inside)(const LaunchSpec&));

// Called first in the new process: builds its root, then gives up all privileges. Afterwards the
// process is pid 1, uid 0 of its own user namespace, with the agent's few capabilities, Landlock,
// the seccomp filters and the descriptors kListenerFd and kReportFd. Returns the seccomp
// notification descriptor for the agent's SyscallLimiter; empty if calls are not guarded. Throws
// StepError.
Fd enter_jail(const LaunchSpec& spec);

// Sends a report over kReportFd, with a descriptor unless `with_fd` is -1. Throws StepError.
void send_report(const LaunchReport& report, int with_fd = -1);

}  // namespace sandgate
