#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// profiles apply|list|show|diff|rollback|explain
void add_profile_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
