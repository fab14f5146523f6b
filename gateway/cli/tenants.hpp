#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// tenants create|list|suspend|unsuspend, limits, audit
void add_tenant_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
