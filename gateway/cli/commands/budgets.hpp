#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate budgets`: spending limits of tenants, and credits.
void add_budget_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
