#pragma once
#include <cstdint>

namespace sandgate {

// Sets the resource limits of all processes of a sandbox: no core dumps, files no larger than the
// disk, 1 024 descriptors (hard limit 65 536), 8 MiB of locked memory, no raised priorities. Throws
// StepError.
void apply_rlimits(uint64_t disk_bytes);

}  // namespace sandgate
