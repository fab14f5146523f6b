#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate usage`.
void add_usage_command(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
