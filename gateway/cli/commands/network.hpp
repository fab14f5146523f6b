#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate network show|set`.
void add_network_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
