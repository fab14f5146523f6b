#pragma once
#include "gateway/config/config.hpp"

namespace sandgate {

// What a supervisor hands to its children (ChildSpec::settings): the configuration on descriptor 3.
// Throws Error(invalid) when there is none.
Config config_from_supervisor();

}  // namespace sandgate
