#pragma once
#include <string>
#include <vector>

#include "gateway/config/config.hpp"

namespace sandgate {

// What becomes of a configuration that was read again while the program runs.
struct ReloadedConfig {
  Config config;  // to go on with: the running one, with what can be changed as it is now
  std::vector<std::string> changed;  // paths that count from now on
  std::vector<std::string> waiting;  // paths that differ, but count from the next start on
};

// Pure. The paths are those of options().
ReloadedConfig reloaded(const Config& running, const Config& read_again);

}  // namespace sandgate
