#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate ledger`: balances and transfers.
void add_ledger_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
