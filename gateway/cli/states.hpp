#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// pause, resume, fork
void add_state_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
