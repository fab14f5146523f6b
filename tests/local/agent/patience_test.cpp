#include "local/agent/patience.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace sandgate::agent {
namespace {

using namespace std::chrono_literals;

struct FinalUsageLog {
  FinalUsageLog() { EXPECT_EQ(::pipe(fds), 0); }
  ~FinalUsageLog() {
    for (const int fd : fds) ::close(fd);
  }
  int fds[2];
};

TEST(Patience, HasAnEnd) {
  FinalUsageLog pipe;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(is_readable_within(pipe.fds[0], 250ms));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 240ms);
  EXPECT_EQ(::write(pipe.fds[1], "x", 1), 1);
  EXPECT_TRUE(is_readable_within(pipe.fds[0], 250ms));
}

TEST(Patience, DoesNotRunOutWhileTheProcessStandsStill) {
  FinalUsageLog pipe;
  const pid_t waiting = ::fork();
  if (waiting == 0) ::_exit(is_readable_within(pipe.fds[0], 1500ms) ? 0 : 1);
  std::this_thread::sleep_for(100ms);
  ::kill(waiting, SIGSTOP);
  std::this_thread::sleep_for(2s);
  ::kill(waiting, SIGCONT);
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(::write(pipe.fds[1], "x", 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(waiting, &status, 0), waiting);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace sandgate::agent
