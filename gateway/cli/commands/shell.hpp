#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate shell`.
void add_shell_command(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
