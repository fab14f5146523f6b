#pragma once
#include <CLI/CLI.hpp>

#include "gateway/cli/commands/keys.hpp"
#include "gateway/cli/context.hpp"

namespace sandgate {

using cli::ExitCode;

// Adds every command that uses a gateway's API. Commands run inside app.parse() and store their
// exit code in `exit_code`, which must outlive it.
void add_client_commands(CLI::App& app, ExitCode& exit_code,
                         cli::OperatorKeyMaker make_operator_key = {});

// Parses and runs a command line. Returns 0, 1 for an error, 2 for wrong usage, and for run and
// exec the program's exit code. `--help`, `help` and `--version` return 0. What commands throw is
// printed as Context::on() says; commands that run on this machine leave it to this function.
int run_command_line(CLI::App& app, int argc, const char* const* argv, const ExitCode& exit_code);

}  // namespace sandgate
