#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// sandgate prices: the price books, and what a change would come to.
void add_price_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
