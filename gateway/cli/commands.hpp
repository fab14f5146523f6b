#pragma once
#include <CLI/CLI.hpp>

#include "gateway/cli/context.hpp"
#include "gateway/cli/keys.hpp"

namespace sandgate {

using cli::ExitCode;

// Adds every command that talks to a gateway over its API. They run inside app.parse() and leave
// their exit code in `exit_code`, which must outlive it.
void add_client_commands(CLI::App& app, ExitCode& exit_code,
                         cli::OperatorKeyMaker make_operator_key = {});

// Parses and runs: 0, 1 for an error, 2 for wrong usage, and for run and exec the program's own.
// `--help`, `help` and `--version` are 0. Errors that the commands do not catch themselves pass
// through.
int run_command_line(CLI::App& app, int argc, const char* const* argv, const ExitCode& exit_code);

}  // namespace sandgate
