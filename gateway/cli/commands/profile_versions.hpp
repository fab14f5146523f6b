#pragma once
#include <string>

#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Returns "/v1/profiles/<name>", the prefix of all paths of one profile.
std::string profile_path(const std::string& name);

// Adds `versions`, `diff`, `rollback` and `channel` to `sandgate profiles`.
void add_profile_version_commands(CLI::App& group, const ContextPtr& context);

}  // namespace sandgate::cli
