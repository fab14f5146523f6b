#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// providers list|test, deployments set|remove
void add_deployment_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
