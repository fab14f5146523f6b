#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// sandgate budgets: what tenants may spend, and credits.
void add_budget_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
