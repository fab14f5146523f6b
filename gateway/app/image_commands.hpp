#pragma once
#include <CLI/CLI.hpp>

namespace sandgate {

// Adds `sandgate image ...`: manages this machine's images without a running server.
void add_image_commands(CLI::App& app, int& exit_code);

}  // namespace sandgate
