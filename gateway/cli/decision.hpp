#pragma once
#include "gateway/cli/console.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate::cli {

// Prints why a backend was or would be chosen, one row per candidate.
void print_decision(const Console& console, const Json& decision);

}  // namespace sandgate::cli
