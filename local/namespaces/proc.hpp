#pragma once
#include "local/namespaces/root.hpp"

namespace sandgate {

// A fresh procfs of the sandbox's own pid namespace: nosuid, nodev, noexec, processes of other
// accounts invisible (hidepid), what speaks of or to the host masked or read-only. /proc/meminfo
// and /proc/cpuinfo stay readable (they show the machine's numbers): too many programs need them.
void mount_proc(const LaunchSpec& spec, const NewRoot& root);

}  // namespace sandgate
