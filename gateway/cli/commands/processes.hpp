#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate process list|signal`.
void add_process_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
