#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate port expose|list|remove`.
void add_port_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
