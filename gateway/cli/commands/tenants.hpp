#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate tenants create|list|suspend|unsuspend`, `limits` and `audit`.
void add_tenant_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
