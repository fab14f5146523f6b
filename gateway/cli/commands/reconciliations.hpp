#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate reconcile`.
void add_reconcile_command(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
