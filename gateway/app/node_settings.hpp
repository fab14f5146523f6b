#pragma once
#include "gateway/config/config.hpp"
#include "local/node/settings.hpp"

namespace sandgate {

// Derives the node's settings from the configuration. As root, the node serves the account
// config.run_as, if that exists.
NodeSettings node_settings(const Config& config);

}  // namespace sandgate
