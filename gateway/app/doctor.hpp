#pragma once
#include "gateway/config/config.hpp"

namespace sandgate {

// `sandgate doctor`: prints what this machine offers to sandboxes, what is missing and how to fix
// it. Returns 0 if sandboxes can run here, otherwise 1.
int doctor(const Config& config, bool as_json);

}  // namespace sandgate
