#pragma once
#include <string>
#include <vector>

#include "gateway/core/json_reader.hpp"

namespace sandgate::cli {

// Converts {"A=1"} to {"A":"1"}. Throws CLI::ValidationError naming `what`, the option, for texts
// that are not NAME=VALUE.
Json pairs(const std::vector<std::string>& texts, const std::string& what);

}  // namespace sandgate::cli
