#include "gateway/cli/options/settings.hpp"

#include <algorithm>
#include <cstdlib>

#include <yaml-cpp/yaml.h>

#include "gateway/core/error.hpp"

namespace sandgate::cli {
namespace {

void set(Settings& settings, const std::string& key, const std::string& value,
         const std::string& file) {
  if (key == "url") {
    settings.url = value;
  } else if (key == "api_key") {
    settings.api_key = Secret(value);
  } else if (key == "admin_key") {
    settings.admin_key = Secret(value);
  } else if (key == "tenant") {
    settings.tenant = value;
  } else {
    throw Error(ErrorCode::invalid,
                file + ": unknown key '" + key + "'; known are url, api_key, admin_key, tenant");
  }
}

void read_file(Settings& settings, const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return;
  try {
    const YAML::Node document = YAML::LoadFile(path.string());
    if (document.IsNull()) return;
    if (!document.IsMap())
      throw Error(ErrorCode::invalid,
                  path.string() + " must be a map of settings, such as 'api_key: sg_...'");
    for (const auto& member : document) {
      if (member.second.IsNull()) continue;  // as text it would be "null"
      set(settings, member.first.as<std::string>(), member.second.as<std::string>(), path.string());
    }
  } catch (const YAML::Exception& failure) {
    throw Error(ErrorCode::invalid, path.string() + ": " + failure.what());
  }
}

// In a header such a character would end the line, and what follows would be another header. It is
// mostly the carriage return that a file of variables from Windows leaves at the end of each.
void refuse_control_characters(const char* variable, const std::string& value) {
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  if (std::ranges::any_of(value, is_control))
    throw Error(ErrorCode::invalid,
                std::string(variable) +
                    " has a control character in it: do the lines of the file " +
                    "that it comes from end in a carriage return?");
}

}  // namespace

std::filesystem::path settings_path(const Environment& environment) {
  if (const auto base = environment("XDG_CONFIG_HOME"); base && !base->empty())
    return std::filesystem::path(*base) / "sandgate/config.yaml";
  return std::filesystem::path(environment("HOME").value_or("/")) / ".config/sandgate/config.yaml";
}

std::string gateway_address(std::string url) {
  const std::string given = url;
  while (url.ends_with('/')) url.pop_back();
  if (url.empty() || url.ends_with(':'))
    throw Error(ErrorCode::invalid, "the gateway's address (SANDGATE_URL) '" + given +
                                        "' names no host; it is like https://gate.example.com");
  if (!url.ends_with("/v1")) return url;
  url.resize(url.size() - 3);
  throw Error(ErrorCode::invalid,
              "the gateway's address (SANDGATE_URL) is without /v1: give " + url);
}

Settings load_settings(const Environment& environment) {
  Settings settings;
  read_file(settings, settings_path(environment));
  if (const auto url = environment("SANDGATE_URL"); url && !url->empty()) settings.url = *url;
  if (const auto key = environment("SANDGATE_API_KEY")) settings.api_key = Secret(*key);
  if (const auto key = environment("SANDGATE_ADMIN_KEY")) settings.admin_key = Secret(*key);
  if (const auto tenant = environment("SANDGATE_TENANT")) settings.tenant = *tenant;
  refuse_control_characters("SANDGATE_URL", settings.url);
  refuse_control_characters("SANDGATE_API_KEY", settings.api_key.reveal());
  refuse_control_characters("SANDGATE_ADMIN_KEY", settings.admin_key.reveal());
  refuse_control_characters("SANDGATE_TENANT", settings.tenant);
  while (settings.url.ends_with('/')) settings.url.pop_back();
  return settings;
}

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  if (!value) return std::nullopt;
  return std::string(value);
}

}  // namespace sandgate::cli
