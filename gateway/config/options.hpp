#pragma once
#include <functional>
#include <string>
#include <vector>

#include "gateway/config/config.hpp"

namespace sandgate {

// One setting: how to parse, validate and store its text, and how to format its value.
struct Option {
  std::string path;  // "database.url"
  // Stores the value and returns "", or returns why the text is not valid.
  std::function<std::string(Config&, const std::string&)> set;
  std::function<std::string(const Config&)> get;
};

// The table of all settings. docs/sandgate.example.yaml documents each.
const std::vector<Option>& options();

// "database.url" -> "SANDGATE_DATABASE_URL".
std::string environment_name(const std::string& path);

}  // namespace sandgate
