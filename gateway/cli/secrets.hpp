#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// sandgate secrets: values that workloads use and never see. They come from a file, standard input
// or a prompt, never from the command line, and are never printed.
void add_secret_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
