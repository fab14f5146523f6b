#pragma once
#include <functional>
#include <string>
#include <vector>

#include "gateway/config/config.hpp"

namespace sandgate {

// One setting: how its text is checked and stored, and how it is read back.
struct Option {
  std::string path;  // "database.url"
  // Stores the text or says why it cannot ("" when fine).
  std::function<std::string(Config&, const std::string&)> set;
  std::function<std::string(const Config&)> get;
};

// THE table of settings. What each means is said in docs/sandgate.example.yaml, which has all.
const std::vector<Option>& options();

// "database.url" -> "SANDGATE_DATABASE_URL".
std::string environment_name(const std::string& path);

}  // namespace sandgate
