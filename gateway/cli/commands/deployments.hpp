#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate providers list|test` and `sandgate deployments set|enable|disable|remove`.
void add_deployment_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
