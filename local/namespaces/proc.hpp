#pragma once
#include "local/namespaces/root.hpp"

namespace sandgate {

// Mounts a new procfs of the sandbox's pid namespace: nosuid, nodev, noexec, with processes of
// other accounts hidden (hidepid) and entries that expose or control the host masked or read-only.
// /proc/meminfo and /proc/cpuinfo show the host's numbers; many programs need them. Throws
// StepError.
void mount_proc(const LaunchSpec& spec, const NewRoot& root);

}  // namespace sandgate
