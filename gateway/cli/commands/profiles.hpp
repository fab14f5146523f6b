#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate profiles apply|list|show|diff|rollback|explain`.
void add_profile_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
