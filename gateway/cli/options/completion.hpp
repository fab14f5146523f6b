#pragma once
#include <string>

#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Generate completion scripts for commands and options from the command tree.
std::string bash_completion(const CLI::App& root);
std::string zsh_completion(const CLI::App& root);
std::string fish_completion(const CLI::App& root);

// Adds `sandgate completion bash|zsh|fish`.
void add_completion_command(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
