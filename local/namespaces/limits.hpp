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

}  // namespace sandgate
