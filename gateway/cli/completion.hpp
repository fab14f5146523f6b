#pragma once
#include <string>

#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Scripts that complete commands and options, made from the commands themselves.
std::string bash_completion(const CLI::App& root);
std::string zsh_completion(const CLI::App& root);
std::string fish_completion(const CLI::App& root);

// completion bash|zsh|fish
void add_completion_command(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
