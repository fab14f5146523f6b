#pragma once
#include <string>
#include <vector>

#include "gateway/cli/console.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate::cli {

// Says of each deployment in a problem document why it took no sandbox, a line each, and what
// helps. Empty for other documents.
std::vector<std::string> refusals(const Json& problem);

// Prints why a backend was or would be chosen, one row per candidate.
void print_decision(const Console& console, const Json& decision);

}  // namespace sandgate::cli
