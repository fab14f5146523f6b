#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// keys create|list|revoke|rotate
void add_key_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
