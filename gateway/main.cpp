#include "gateway/app/commands.hpp"
#include "gateway/app/operator_key.hpp"
#include "gateway/cli/commands/commands.hpp"
#include "gateway/core/standard_descriptors.hpp"

// `sandgate serve` supervises three processes: an embedded database; `node` (root: makes sandboxes,
// parses no HTTP; its child `egress` carries their traffic out); and `worker` (unprivileged: the
// gateway, see Gateway in app/gateway.hpp). All other commands are API clients or work on this
// machine.
int main(int argc, char** argv) {
  sandgate::occupy_standard_descriptors();
  CLI::App app("One HTTP API over every agent sandbox", "sandgate");
  app.set_version_flag("--version", "sandgate " SANDGATE_VERSION);
  app.require_subcommand(1);
  sandgate::ExitCode exit_code = 0;
  sandgate::add_server_commands(app, exit_code);
  const auto operator_key = std::make_shared<sandgate::OperatorKey>();
  sandgate::add_client_commands(app, exit_code, operator_key->maker());
  operator_key->add_flags(*app.get_subcommand("keys")->get_subcommand("create"));
  return sandgate::run_command_line(app, argc, argv, exit_code);
}
