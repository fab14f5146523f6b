#pragma once
#include <string>
#include <vector>

#include "gateway/config/config.hpp"

namespace sandgate {

// The result of reloading the configuration in a running process.
struct ReloadedConfig {
  Config config;  // the running configuration with the changed settings applied
  std::vector<std::string> changed;  // paths applied at once
  std::vector<std::string> waiting;  // paths that differ but need a restart
};

// Compares two configurations without side effects. Paths are those of options().
ReloadedConfig reloaded(const Config& running, const Config& read_again);

}  // namespace sandgate
