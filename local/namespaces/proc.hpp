#pragma once
#include "local/namespaces/launch_spec.hpp"

namespace sandgate {

// Mounts on the stage, beside `dev`, a new procfs of the sandbox's pid namespace: nosuid, nodev,
// noexec, with processes of other accounts hidden (hidepid) and entries that expose or control the
// host masked or read-only. /proc/meminfo and /proc/cpuinfo show the host's numbers; many programs
// need them. Throws StepError.
void mount_proc(const LaunchSpec& spec, int stage);

}  // namespace sandgate
