#include "local/image/program.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

#include "gateway/core/error.hpp"

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

TEST(Program, SaysItsLinesAndItsCode) {
  std::string said;
  const auto line = [&](const std::string& text) { said += text + ";"; };
  EXPECT_EQ(run_program({"sh", "-c", "echo one; echo two >&2; exit 3"}, 10s, line), 3);
  EXPECT_EQ(said, "one;two;");
}

TEST(Program, IsGivenUpThoughItsOutputHasEnded) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    run_program({"sh", "-c", "exec >&- 2>&-; exec sleep 600"}, 1s, [](const std::string&) {});
    ADD_FAILURE() << "it still runs";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::timeout);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s);
}

// Ctrl-C reaches this program alone, since the other is in a process group of its own.
TEST(Program, EndsWithWhoRunsIt) {
  pid_t started = 0;
  const auto interrupt = [&](const std::string& line) {
    started = std::stoi(line);
    raise(SIGINT);
  };
  int number = 0;
  try {
    run_program({"sh", "-c", "sleep 600 & echo $$; wait"}, 60s, interrupt);
  } catch (const Interrupted& end) {
    number = end.number;
  }
  EXPECT_EQ(number, SIGINT);
  EXPECT_EQ(kill(started, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

}  // namespace
}  // namespace sandgate::test
