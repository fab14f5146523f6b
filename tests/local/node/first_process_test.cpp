#include "local/node/supervisor/first_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "local/namespaces/launcher.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate::test {
namespace {

// A child of ours that waits, and the record that a node has of such a process.
class FirstProcessTest : public ::testing::Test {
 protected:
  FirstProcessTest() {
    record_.pid = fork();
    while (record_.pid == 0) pause();
    record_.start_time = process_start_time(pid());
  }
  ~FirstProcessTest() override { end(); }

  pid_t pid() const { return static_cast<pid_t>(record_.pid); }
  void end() const {
    kill(pid(), SIGKILL);
    waitpid(pid(), nullptr, 0);
  }
  // Whether it is told from a dead one by a process that may open only so many more descriptors.
  bool is_unclear_with(rlim_t descriptors) const {
    rlimit before{};
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const Fd lowest(dup(0));
    const rlimit few{static_cast<rlim_t>(lowest.get()) + 1 + descriptors, before.rlim_max};
    bool unclear = false;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    try {
      open_first_process(record_);
    } catch (const StepError&) {
      unclear = true;
    }
    setrlimit(RLIMIT_NOFILE, &before);
    return unclear;
  }

  JournalRecord record_;
};

TEST_F(FirstProcessTest, IsTheOneOfTheRecordedPidAndStart) {
  EXPECT_TRUE(open_first_process(record_));
  ++record_.start_time;
  EXPECT_FALSE(open_first_process(record_)) << "the pid is somebody else's";
  EXPECT_FALSE(open_first_process(JournalRecord()));
}

TEST_F(FirstProcessTest, IsGoneOnceItHasEnded) {
  kill(pid(), SIGKILL);
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(pid()), &ended, WEXITED | WNOWAIT);
  EXPECT_FALSE(open_first_process(record_)) << "although nobody has waited for it";
  end();
  EXPECT_FALSE(open_first_process(record_));
}

TEST_F(FirstProcessTest, IsNotTakenForDeadWhereDescriptorsAreLacking) {
  EXPECT_TRUE(is_unclear_with(0));
  EXPECT_TRUE(is_unclear_with(1)) << "enough for the process and not for its start time";
  EXPECT_FALSE(is_unclear_with(8)) << "the control";
}

}  // namespace
}  // namespace sandgate::test
