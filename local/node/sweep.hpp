#pragma once
#include <cstdint>

namespace sandgate {

// Kills every process whose user id lies in a sandbox's range: what is left when nobody knows a
// process of it any more.
void kill_id_range(uint32_t base);

}  // namespace sandgate
