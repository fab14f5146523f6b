#pragma once
#include <CLI/CLI.hpp>

namespace sandgate {

// Adds the commands that run parts of Sandgate on this machine: serve, migrate, doctor and image,
// and the hidden worker, node and egress, which serve and node start. Commands run inside
// app.parse() and store their exit code in `exit_code`, which must outlive it.
void add_server_commands(CLI::App& app, int& exit_code);

}  // namespace sandgate
