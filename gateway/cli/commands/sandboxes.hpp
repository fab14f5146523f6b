#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate create`, `list`, `show`, `extend` and `kill`.
void add_sandbox_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
