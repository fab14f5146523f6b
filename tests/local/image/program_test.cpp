#include "local/image/program.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>

#include "gateway/core/error.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

// Also if nobody reaps it.
bool has_ended(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  return !std::getline(status, text) || text.find(") Z ") != std::string::npos;
}

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

TEST(Program, DoesNotOutliveWhoRunsItAndIsKilled) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t runner = fork();
  if (runner == 0) {
    run_program({"sh", "-c", "echo $$; exec sleep 600"}, 60s, [&](const std::string& line) {
      const pid_t started = std::stoi(line);
      if (write(ends[1], &started, sizeof started) < 0) _exit(1);
    });
    _exit(0);
  }
  pid_t started = 0;
  ASSERT_EQ(read(ends[0], &started, sizeof started), ssize_t{sizeof started});
  EXPECT_EQ(kill(started, 0), 0);
  kill(runner, SIGKILL);
  waitpid(runner, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return has_ended(started); }));
  kill(started, SIGKILL);
  for (const int end : ends) close(end);
}

}  // namespace
}  // namespace sandgate::test
