#include "local/agent/pausable_clock.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "local/agent/pause_signal.hpp"
#include "local/namespaces/pidfd.hpp"
#include "tests/local/agent/agent_fixture.hpp"

namespace sandgate::agent {
namespace {

using namespace std::chrono_literals;
using test::Outcome;

// As a node pauses and resumes a sandbox, but for one process.
void pause_process(pid_t process, std::chrono::milliseconds duration) {
  const Fd pidfd = open_pidfd(process);
  ::kill(process, SIGSTOP);
  std::this_thread::sleep_for(duration);
  send_pause(pidfd.get(), duration);
  ::kill(process, SIGCONT);
}

struct Ends {
  Ends() { EXPECT_EQ(::pipe(fds), 0); }
  ~Ends() {
    for (const int fd : fds) ::close(fd);
  }
  int fds[2];
};

TEST(PausableClock, LimitsAWait) {
  Ends pipe;
  PausableClock clock;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(clock.is_readable_within(pipe.fds[0], 250ms));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 240ms);
  EXPECT_EQ(::write(pipe.fds[1], "x", 1), 1);
  EXPECT_TRUE(clock.is_readable_within(pipe.fds[0], 250ms));
}

TEST(PausableClock, AWaitIsNotOverByAPause) {
  Ends pipe;
  const pid_t waiting = ::fork();
  if (waiting == 0) {
    PausableClock clock;
    ::_exit(clock.is_readable_within(pipe.fds[0], 1500ms) ? 0 : 1);
  }
  std::this_thread::sleep_for(100ms);
  pause_process(waiting, 2s);
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(::write(pipe.fds[1], "x", 1), 1);
  int status = 0;
  ASSERT_EQ(::waitpid(waiting, &status, 0), waiting);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// By root inside the sandbox, for one.
TEST(PausableClock, NeverGoesBackWhateverItIsTold) {
  PausableClock clock;
  const Fd itself = open_pidfd(::getpid());
  std::this_thread::sleep_for(20ms);
  const auto before = clock.now();
  for (const auto told : {std::chrono::microseconds::max(), std::chrono::microseconds(-1'000'000)})
    send_pause(itself.get(), told);
  EXPECT_GE(clock.now(), before);
  EXPECT_LT(clock.now() - before, 1s);
  EXPECT_TRUE(test::eventually([&] { return clock.now() > before; })) << "it goes on";
}

class PausedAgentTest : public test::AgentTest {
 protected:
  // Runs the line while the agent stands still for a time. The line itself runs on.
  Outcome exec_across_a_pause(std::string line, std::chrono::milliseconds timeout,
                              std::chrono::milliseconds duration) {
    Command command = shell(std::move(line));
    command.timeout = timeout;
    std::thread pausing([&] {
      std::this_thread::sleep_for(200ms);
      pause_process(agent_pid(), duration);
    });
    Outcome outcome = exec(command);
    pausing.join();
    return outcome;
  }
};

TEST_F(PausedAgentTest, ATimeLimitStandsStill) {
  const Outcome ended = exec_across_a_pause("sleep 4; echo done", 3s, 3500ms);
  EXPECT_FALSE(ended.exit.timed_out);
  EXPECT_EQ(ended.out, "done\n");
  EXPECT_LT(ended.exit.duration, 3s) << "the pause does not count";
  EXPECT_GE(ended.exit.duration, 200ms);
}

TEST_F(PausedAgentTest, ATimeLimitGoesOnAfterwards) {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome ended = exec_across_a_pause("sleep 60", 1s, 1500ms);
  EXPECT_TRUE(ended.exit.timed_out);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 2400ms);
  EXPECT_GE(ended.exit.duration, 990ms);
  EXPECT_LT(ended.exit.duration, 30s);
}

}  // namespace
}  // namespace sandgate::agent
