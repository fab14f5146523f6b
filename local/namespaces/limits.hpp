#pragma once
#include <cstdint>

namespace sandgate {

// Sets the resource limits of all processes of a sandbox: no core dumps, files no larger than the
// disk, 1 024 descriptors (hard limit 65 536), 8 MiB of locked memory, no raised priorities. Throws
// StepError.
void apply_rlimits(uint64_t disk_bytes);

// Sets how many signals and POSIX timers may be queued: 512. All accounts of a user namespace that
// the caller makes afterwards share them; on Linux before 5.14 each has as many. Throws StepError.
void limit_queued_signals();

// Sees to it that neither this process nor those that come from it have, or can give themselves, a
// lower OOM score than an ordinary process: whoever is spared when memory is short is so at the
// cost of the machine. Their least score stays as it is if the caller has no privileges.
void give_up_being_spared();

}  // namespace sandgate
