#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate events` and `sandgate webhooks set|list|remove`.
void add_event_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
