#pragma once
#include <optional>

#include "gateway/config/config.hpp"

namespace sandgate {

// The configuration that a supervisor hands to its children (ChildSpec::settings).
// Throws Error(invalid) when there is none.
Config config_from_supervisor();
// The one it has handed over since, after a SIGHUP; empty when there is none. Throws
// Error(invalid).
std::optional<Config> renewed_config();
// Why this process cannot start: for the supervisor, which says it last of all.
void tell_why_not_started(const std::string& reason);

}  // namespace sandgate
