#pragma once
#include "gateway/config/config.hpp"

namespace sandgate {

// `sandgate doctor`: prints what this machine offers to sandboxes, what is missing and how to get
// it. Returns 0 when sandboxes can run here, 1 when not.
int doctor(const Config& config, bool as_json);

}  // namespace sandgate
