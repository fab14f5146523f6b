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
// SANDGATE_API_KEY, SANDGATE_ADMIN_KEY and SANDGATE_TENANT, which override it: an empty
// variable means that there is no such key or tenant. Throws Error(invalid).
Settings load_settings(const Environment& environment);

// Returns the address without a trailing slash. Throws Error(invalid) if it cannot be a gateway's:
// with the /v1 that the paths of requests begin with, or without a host.
std::string gateway_address(std::string url);

// Reads a variable of this process's environment.
std::optional<std::string> environment_variable(const char* name);

}  // namespace sandgate::cli
