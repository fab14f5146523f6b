#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate snapshot create|list|remove`.
void add_snapshot_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
