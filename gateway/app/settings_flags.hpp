#pragma once
#include <CLI/CLI.hpp>

#include "gateway/config/config.hpp"

namespace sandgate {

// The options --config and --set of commands that read the server's configuration.
class SettingsFlags {
 public:
  explicit SettingsFlags(CLI::App& command);
  // Loads settings from the file, this process's environment and --set. Throws Error(invalid).
  Config load(bool again = false) const;  // see ConfigSources::again

 private:
  std::string file_;
  std::vector<std::string> settings_;
};

}  // namespace sandgate
