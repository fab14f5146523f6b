#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate secrets`: values that workloads use but never see. Values are read from a file,
// standard input or a prompt, never from the command line, and are never printed.
void add_secret_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
