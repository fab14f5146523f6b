#pragma once
#include "gateway/config/config.hpp"
#include "local/node/settings.hpp"

namespace sandgate {

// The node's settings that follow from the configuration. A node of root's is for the account that
// the gateway runs as, where that exists.
NodeSettings node_settings(const Config& config);

}  // namespace sandgate
