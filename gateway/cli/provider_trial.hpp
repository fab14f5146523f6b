#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// providers test: a sandbox on one deployment, made, used and killed; what worked and how long it
// took.
void add_provider_trial(CLI::App& group, const ContextPtr& context);

}  // namespace sandgate::cli
