#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate pause`, `resume` and `fork`.
void add_state_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
