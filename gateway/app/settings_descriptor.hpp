#pragma once
#include <optional>

#include "gateway/config/config.hpp"

namespace sandgate {

// Reads the configuration that the supervisor passes to its children (ChildSpec::settings). Throws
// Error(invalid) if there is none.
Config config_from_supervisor();
// Reads the configuration that the supervisor passed after a SIGHUP; empty if there is none. Throws
// Error(invalid).
std::optional<Config> renewed_config();
// Tells the supervisor why this process cannot start; the supervisor prints it last. Without a
// supervisor prints it to standard error.
void report_start_failure(const std::string& reason);

}  // namespace sandgate
