#pragma once
#include <CLI/CLI.hpp>

#include "gateway/config/config.hpp"

namespace sandgate {

// --config and --set of a command that reads the server's configuration.
class SettingsFlags {
 public:
  explicit SettingsFlags(CLI::App& command);
  // From file, this process's environment and the flags. Throws Error(invalid).
  Config load() const;

 private:
  std::string file_;
  std::vector<std::string> settings_;
};

}  // namespace sandgate
