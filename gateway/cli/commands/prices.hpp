#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate prices`: price books, and previews of changes.
void add_price_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
