#pragma once
#include <cstdint>

namespace sandgate {

// Per-process limits of everything in a sandbox: no core dumps, files no larger than the disk,
// 1 024 descriptors (up to 65 536 for who asks), no locked memory to speak of.
void apply_rlimits(uint64_t disk_bytes);

}  // namespace sandgate
