#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate exports`: the receivers of usage data.
void add_export_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
