#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "gateway/core/secret.hpp"

namespace sandgate::cli {

// The client settings of the command line.
struct Settings {
  std::string url = "http://127.0.0.1:8080";  // without a trailing slash
  Secret api_key;
  Secret admin_key;  // for operator commands
  std::string tenant;  // the tenant an operator acts for; empty: none
};

using Environment = std::function<std::optional<std::string>(const char* name)>;

// Returns $XDG_CONFIG_HOME/sandgate/config.yaml, or else ~/.config/sandgate/config.yaml.
std::filesystem::path settings_path(const Environment& environment);

// Reads the file (url, api_key, admin_key, tenant; it may be missing), then SANDGATE_URL,
// SANDGATE_API_KEY, SANDGATE_ADMIN_KEY and SANDGATE_TENANT, which override it. Throws
// Error(invalid).
Settings load_settings(const Environment& environment);

// Reads a variable of this process's environment.
std::optional<std::string> environment_variable(const char* name);

}  // namespace sandgate::cli
