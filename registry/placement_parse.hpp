#pragma once
#include <string>

#include "gateway/core/json_reader.hpp"
#include "registry/profile.hpp"

namespace sandgate {

// Reads a profile's `placement`. Strategy priority needs an order; weighted, and only weighted, may
// have weights. Errors are added to `problems` under `path`.
PlacementPolicy parse_placement(const Json& document, Problems& problems, const std::string& path);

}  // namespace sandgate
