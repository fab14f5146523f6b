#include "tests/local/agent/agent_fixture.hpp"

namespace sandgate::test {
namespace {

class TerminalTest : public AgentTest {
 protected:
  Command terminal(std::string line) {
    Command command = shell(std::move(line));
    command.pty = PtySize{.cols = 101, .rows = 33};
    return command;
  }
};

TEST_F(TerminalTest, HasItsSizeAndIsTheControllingTerminal) {
  const Outcome all = exec(terminal("stty size; tty; echo $TERM; echo x > /dev/tty"));
  EXPECT_TRUE(all.out.starts_with("33 101\r\n/dev/pts/")) << all.out;
  EXPECT_TRUE(all.out.ends_with("xterm-256color\r\nx\r\n")) << all.out;
  EXPECT_EQ(all.exit.exit_code, 0);
}

TEST_F(TerminalTest, IsResized) {
  Command command = terminal("read line; stty size");
  const std::string text = go([&]() -> Task<std::string> {
    const PtySize size{.cols = 77, .rows = 11};
    auto stream = co_await client_.exec(command);
    co_await client_.resize(command.process_id, size);
    co_await stream->write_stdin("go\n");
    const Outcome all = co_await collect(*stream);
    co_return all.out;
  });
  EXPECT_NE(text.find("11 77"), std::string::npos) << text;
}

TEST_F(TerminalTest, ClosingTheInputTypesTheEndOfFile) {
  const Outcome all = exec(terminal("cat; echo over"));
  EXPECT_NE(all.out.find("over"), std::string::npos);
}

TEST_F(TerminalTest, ClosingTheInputEndsItWithinALineToo) {
  for (const std::string typed : {"half", "whole\n", "\rhalf"}) {
    Command command = terminal("stty -echo; echo ready; cat | wc -c; cat; echo over");
    command.timeout = std::chrono::seconds(10);
    const Outcome all = go([&]() -> Task<Outcome> {
      auto stream = co_await client_.exec(command);
      co_await stream->next();  // "ready"
      co_await stream->write_stdin(typed);
      co_await stream->close_stdin();
      co_await stream->close_stdin();  // of the second cat
      co_return co_await collect(*stream);
    });
    EXPECT_EQ(all.out, std::to_string(typed.size()) + "\r\nover\r\n") << typed;
    EXPECT_FALSE(all.exit.timed_out) << typed;
  }
}

// The end is typed before the program begins to read characters, and then gone or a NUL.
TEST_F(TerminalTest, ItsEndIsTypedAgainForWhoReadsInAnotherWay) {
  Command command = terminal(
      "read line; stty -echo -icanon min 1; echo prompt; "
      "until [ $(head -c 1 | od -An -tx1) = 04 ]; do :; done; "
      "stty icanon; echo lines; cat; echo over");
  command.timeout = std::chrono::seconds(10);
  const Outcome all = go([&]() -> Task<Outcome> {
    auto stream = co_await client_.exec(command);
    co_await stream->write_stdin("go\n");
    co_await stream->close_stdin();
    co_return co_await collect(*stream);
  });
  EXPECT_TRUE(all.out.ends_with("prompt\r\nlines\r\nover\r\n")) << all.out;
  EXPECT_FALSE(all.exit.timed_out);
}

TEST_F(TerminalTest, WhatIsWrittenAfterItsEndIsAllThatComes) {
  Command command = terminal(
      "stty -echo; echo ready; cat; echo more; read line; stty -icanon min 1; echo prompt; "
      "dd bs=9 count=1 2>&- | od -An -c");
  command.timeout = std::chrono::seconds(10);
  const Outcome all = go([&]() -> Task<Outcome> {
    auto stream = co_await client_.exec(command);
    co_await stream->next();  // "ready"
    co_await stream->close_stdin();
    co_await stream->next();  // "more"
    co_await stream->write_stdin("line\n");
    co_await stream->next();  // "prompt"
    co_await stream->write_stdin("x");
    co_return co_await collect(*stream);
  });
  EXPECT_EQ(all.out, "   x\r\n");
}

TEST_F(TerminalTest, CannotBeResizedWithoutATerminal) {
  Command command = shell("sleep 5");
  const std::string code = go([&]() -> Task<std::string> {
    auto stream = co_await client_.exec(command);
    co_return co_await refusal(client_.resize(command.process_id, PtySize()));
  });
  EXPECT_EQ(code, "conflict");
}

}  // namespace
}  // namespace sandgate::test
