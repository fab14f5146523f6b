#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// sandgate exports: where usage is sent to.
void add_export_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
