#include "gateway/cli/options/help_text.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "gateway/cli/commands/commands.hpp"
#include "gateway/cli/terminal/console.hpp"

namespace sandgate::cli {
namespace {

void expect_fits(const CLI::App& command) {
  std::istringstream help(command.help());
  for (std::string line; std::getline(help, line);)
    EXPECT_LE(width_of(line), 100u) << command.get_name() << ": " << line;
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; }))
    expect_fits(*below);
}

TEST(HelpText, OfEveryCommandFitsATerminal) {
  CLI::App app{"Sandgate", "sandgate"};
  ExitCode exit_code = 0;
  add_client_commands(app, exit_code);
  fit_help(app);
  EXPECT_NE(app.help().find("profiles"), std::string::npos);
  expect_fits(app);
}

TEST(HelpText, IsBrokenAtSpacesUnderTheDescription) {
  const std::string start = "  --option TEXT               " + std::string(60, 'a');
  const std::string next = "\n" + std::string(30, ' ');
  EXPECT_EQ(fitted(start + " bbb …… ccccc dd\n"), start + " bbb ……" + next + "ccccc dd\n");
  EXPECT_EQ(fitted(start + " bbb …… cc\n"), start + " bbb …… cc\n");
}

TEST(HelpText, KeepsAWordThatIsTooLong) {
  const std::string word(120, 'a');
  EXPECT_EQ(fitted(word + "\n"), word + "\n");
  EXPECT_EQ(fitted("  -a " + word + " b c\n"),
            "  -a " + word + "\n" + std::string(30, ' ') + "b c\n");
}

}  // namespace
}  // namespace sandgate::cli
