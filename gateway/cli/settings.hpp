#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "gateway/core/secret.hpp"

namespace sandgate::cli {

// How the commands reach a gateway.
struct Settings {
  std::string url = "http://127.0.0.1:8080";  // no slash at the end
  Secret api_key;
  Secret admin_key;  // the operator's, for commands only the operator may use
  std::string tenant;  // whom an operator acts for; empty: nobody
};

using Environment = std::function<std::optional<std::string>(const char* name)>;

// $XDG_CONFIG_HOME/sandgate/config.yaml, else ~/.config/sandgate/config.yaml.
std::filesystem::path settings_path(const Environment& environment);

// The file (url, api_key, admin_key, tenant; it may be missing), then SANDGATE_URL,
// SANDGATE_API_KEY, SANDGATE_ADMIN_KEY and SANDGATE_TENANT over it. Throws Error(invalid).
Settings load_settings(const Environment& environment);

// The process's own environment.
std::optional<std::string> environment_variable(const char* name);

}  // namespace sandgate::cli
