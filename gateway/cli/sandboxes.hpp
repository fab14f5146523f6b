#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// create, list, show, extend, kill
void add_sandbox_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
