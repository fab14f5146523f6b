#pragma once
#include <CLI/CLI.hpp>

namespace sandgate {

// Adds the commands that run parts of Sandgate on this machine: serve, migrate, doctor, image and,
// hidden because serve starts them, worker, node and egress. They run inside app.parse() and leave
// their exit code in `exit_code`, which must outlive it.
void add_server_commands(CLI::App& app, int& exit_code);

}  // namespace sandgate
