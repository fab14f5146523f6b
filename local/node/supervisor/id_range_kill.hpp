#pragma once
#include <cstdint>

namespace sandgate {

// Kills every process whose user id is in a sandbox's range starting at `base`: processes of a
// sandbox of which no pid is known.
void kill_id_range(uint32_t base);

}  // namespace sandgate
