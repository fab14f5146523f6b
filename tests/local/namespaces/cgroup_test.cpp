#include "local/namespaces/cgroup.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

// A process that waits to be killed.
class Waiting {
 public:
  Waiting() : pid_(fork()) {
    if (pid_ != 0) return;
    alarm(60);
    for (;;) pause();
  }
  ~Waiting() {
    if (reaped_) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Waiting(const Waiting&) = delete;

  pid_t pid() const { return pid_; }
  bool dies() {
    reaped_ = waitpid(pid_, nullptr, 0) == pid_;
    return reaped_;
  }
  bool lives() const { return waitpid(pid_, nullptr, WNOHANG) == 0; }

 private:
  const pid_t pid_;
  bool reaped_ = false;
};

// A kernel that shows a process of another pid namespace calls it 0, which as a number to kill()
// means the caller's own group.
TEST(Cgroup, OnlyItsMembersAreKilled) {
  const TempDirectory group;
  Waiting member;
  const Waiting stranger;
  std::ofstream(group.path() + "/cgroup.procs") << "0\n" << member.pid() << "\n";
  EXPECT_EQ(cgroup_processes(group.path()), std::set<pid_t>{member.pid()});
  kill_in_cgroup(group.path(), {member.pid(), stranger.pid()});
  EXPECT_TRUE(member.dies());
  EXPECT_TRUE(stranger.lives());
}

}  // namespace
}  // namespace sandgate::test
