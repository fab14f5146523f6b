#include "gateway/cli/commands/shell.hpp"

#include <unistd.h>

#include "gateway/cli/terminal/raw_terminal.hpp"
#include "gateway/cli/terminal/terminal_session.hpp"

namespace sandgate::cli {

void add_shell_command(CLI::App& app, const ContextPtr& context) {
  struct Options {
    std::string id, command;
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("shell", "Open a terminal in a sandbox");
  command->add_option("ID", options->id, "The sandbox")->required();
  command->add_option("--command", options->command, "Run this instead of the shell");
  context->on(*command, [context, options] {
    // Without a terminal, a shell may never notice the end of its input.
    if (!isatty(STDIN_FILENO))
      throw Error(ErrorCode::invalid,
                  "a shell needs a terminal: to run what comes from elsewhere, use 'sandgate exec "
                  "-i ID -- sh'");
    const Client client = context->client();
    // Reports a wrong id or key with a clear message, which a refused upgrade does not carry.
    client.get(sandbox_path(options->id));
    const WindowSize size = window_size();
    std::string path = sandbox_path(options->id) + "/terminal?cols=" + std::to_string(size.cols) +
                       "&rows=" + std::to_string(size.rows);
    if (!options->command.empty()) path += "&command=" + percent_encode(options->command);
    context->exit_with(run_terminal(client, path));
  });
}

}  // namespace sandgate::cli
