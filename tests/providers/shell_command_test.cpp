#include "providers/shell/shell_command.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include "tests/providers/shell_output.hpp"
#include "tests/support/run.hpp"

namespace sandgate::shell {
namespace {

using LineResult = test::ShellOutput;

LineResult ran(const std::string& line) { return test::shell_output(line); }

class ShellCommand : public testing::Test {
 protected:
  void SetUp() override { setenv("TMPDIR", directory_.path().c_str(), 1); }
  void TearDown() override { unsetenv("TMPDIR"); }
  test::TempDirectory directory_;
};

TEST_F(ShellCommand, QuotedWordsStayWords) {
  for (const std::string word : {"", "a b", "it's", "$(id)", "\\", "a\nb", "-n", "*", "\"'`"})
    EXPECT_EQ(ran("printf %s " + quote(word)).out, word);
  EXPECT_EQ(quote(std::string("a\0b", 3)), "'a'");
}

TEST_F(ShellCommand, StatusOutputDirectoryAndEnvironmentAreTheCommands) {
  Command command{.argv = {"sh", "-c", "printf '%s|' \"$A\" \"$1\"; pwd; exit 7", "x", "it's"},
                  .cwd = directory_.path(),
                  .env = {{"A", "1 '2"}},
                  .process_id = "pr1"};
  const LineResult result = ran(line_of(command));
  EXPECT_EQ(result.status, 7);
  EXPECT_EQ(result.out, "1 '2|it's|" + directory_.path() + "\n");
  EXPECT_EQ(ran(line_of({.argv = {"/no/such"}, .process_id = "pr1"}) + " 2>/dev/null").status, 127);
  EXPECT_EQ(ran(line_of({.argv = {"true"}, .cwd = "/no/such"})).status, kNoDirectory);
  EXPECT_EQ(ran("printf input | " + line_of({.argv = {"cat"}, .process_id = "pr1"})).out, "input");
}

TEST_F(ShellCommand, AStatusLeftBehindIsTakenOnce) {
  const Command command{.shell = "exit 7", .process_id = "pr1"};
  EXPECT_EQ(ran(storing_status(line_of(command), "pr1")).status, 7);
  const LineResult first = ran(stored_status_line("pr1"));
  EXPECT_EQ(first.status, 0);
  EXPECT_EQ(first.out, "7\n");
  const LineResult second = ran("exec 2>/dev/null; " + stored_status_line("pr1"));
  EXPECT_NE(second.status, 0);
  EXPECT_EQ(second.out, "");
}

TEST_F(ShellCommand, ATerminalTakesAnotherSize) {
  int outer = -1, inner = -1;
  ASSERT_EQ(openpty(&outer, &inner, nullptr, nullptr, nullptr), 0);
  const std::string terminal = ttyname(inner);
  const Command command{.shell = "read line", .pty = PtySize{}, .process_id = "pr4"};
  const LineResult sized = ran("{ " + line_of(command) + "; } <" + terminal + " & (" +
                               resize_line("pr4", {.cols = 100, .rows = 30}) +
                               "); echo $?; stty size <" + terminal + "; kill $!");
  EXPECT_EQ(sized.out, "0\n30 100\n");
  EXPECT_EQ(ran("(" + resize_line("pr5", {}) + ")").status, 1);
  close(outer);
  close(inner);
}

TEST_F(ShellCommand, SignalsAndLimitsReachTheWholeGroup) {
  const auto exit = [](const LineResult& run, const Command& command, int elapsed) {
    return exit_of(run.status, command, std::chrono::milliseconds(elapsed));
  };
  Command killed{.shell = "kill -9 $$", .process_id = "pr1"};
  EXPECT_EQ(exit(ran(line_of(killed)), killed, 1).signal, "SIGKILL");
  // The pipe ends only when everything that holds it has ended.
  Command slow{.shell = "sleep 600 & sleep 600; echo late",
               .timeout = std::chrono::milliseconds(200),
               .process_id = "pr2"};
  const LineResult result = ran(line_of(slow));
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(exit(result, slow, 200).timed_out);
  EXPECT_FALSE(exit({.status = 124}, slow, 10).timed_out);
  Command waits{.shell =
                    "trap 'echo bye; exit 3' TERM; : > \"$TMPDIR/ready\"; "
                    "while :; do sleep 0.02; done",
                .process_id = "pr3"};
  const LineResult both =
      ran("((" + line_of(waits) + "); echo $?) & while [ ! -e \"$TMPDIR/ready\" ]; " +
          "do sleep 0.02; done; " + signal_line("pr3", 15) + "; wait");
  EXPECT_EQ(both.out, "bye\n3\n");
  EXPECT_EQ(ran(signal_line("pr3", 15) + " 2>/dev/null").status, 1);
}

TEST(ExitStatus, IsAShellsWhateverAVendorTells) {
  const auto exit = [](int status) { return exit_of(status, {}, std::chrono::milliseconds(1)); };
  EXPECT_EQ(exit(-1).exit_code, 137);
  EXPECT_EQ(exit(-1).signal, "SIGKILL");
  EXPECT_EQ(exit(256 + 3).exit_code, 3);
  EXPECT_EQ(exit(143).signal, "SIGTERM");
}

}  // namespace
}  // namespace sandgate::shell
