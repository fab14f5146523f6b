#pragma once
#include <optional>
#include <string>

#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// One side of `cp`: "sb…:path" is a path in a sandbox, anything else a local path.
struct CopyPath {
  std::string sandbox;  // empty: local
  std::string path;
};

CopyPath copy_path_from(const std::string& text);

// Adds `sandgate cp`.
void add_copy_command(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
