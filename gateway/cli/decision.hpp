#pragma once
#include <string>
#include <vector>

#include "gateway/cli/terminal/console.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate::cli {

// Says of each deployment in a problem document why it took no sandbox, a line each, and what
// helps. Empty for other documents.
std::vector<std::string> refusals(const Json& problem);

// Says how a deployment of /v1/providers or a candidate fares: ok, resting, probing, failing, or
// off if it is disabled.
std::string health_cell(const Json& item);

// Prints which backend would be chosen and why: a row per candidate, and a line "chosen: NAME".
void print_decision(const Console& console, const Json& decision);

// Prints why a sandbox is where it is: likewise, with what came of each attempt, and how the shadow
// of its channel fared.
void print_placement(const Console& console, const Json& decision);

}  // namespace sandgate::cli
