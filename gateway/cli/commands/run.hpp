#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate run`, `exec` and `logs`.
void add_run_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
