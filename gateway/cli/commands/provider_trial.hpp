#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `providers test`: creates, uses and kills a sandbox on one deployment and prints the result
// and duration of each step.
void add_provider_trial(CLI::App& group, const ContextPtr& context);

}  // namespace sandgate::cli
