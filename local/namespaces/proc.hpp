#pragma once
#include "local/namespaces/launch_spec.hpp"

namespace sandgate {

// The group inside whose members see all processes: root's, or where the image's account is in
// that, another, which the agent and root have beside it (docs/decisions/0230).
uint32_t observers_of(const LaunchSpec& spec);

// Mounts on the stage, beside `dev`, a new procfs of the sandbox's pid namespace: nosuid, nodev,
// noexec, with processes of other accounts hidden (hidepid) and entries that expose or control the
// host masked or read-only. /proc/meminfo and /proc/cpuinfo show the host's numbers; many programs
// need them. Throws StepError.
void mount_proc(const LaunchSpec& spec, int stage);

}  // namespace sandgate
