#include "local/namespaces/cgroup.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
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

// Takes every free descriptor of this process for its lifetime.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int next = dup(0);
    close(next);
    const rlimit none{static_cast<rlim_t>(next), before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

// Read as 0, it would be taken for one that began anew, and the time before charged twice.
TEST(Cgroup, ACounterThatCannotBeReadIsNot0) {
  const TempDirectory group;
  std::ofstream(group.path() + "/cpuacct.usage") << "12345\n";
  std::ofstream(group.path() + "/cpu.stat") << "usage_usec 678\nuser_usec 600\n";
  std::ofstream(group.path() + "/empty");  // as that of a group being removed
  const auto read = [&](const char* file, std::string_view key = {}) {
    return read_cgroup_counter(group.path(), file, key);
  };
  EXPECT_EQ(read("cpuacct.usage"), 12345);
  EXPECT_EQ(read("cpu.stat", "usage_usec"), 678);
  EXPECT_EQ(read("missing"), 0);
  EXPECT_LT(read("empty"), 0);
  const NoDescriptors none;
  EXPECT_EQ(read_cgroup_number(group.path(), "cpuacct.usage"), 0) << "the control";
  EXPECT_LT(read("cpuacct.usage"), 0);
  EXPECT_LT(read("cpu.stat", "usage_usec"), 0);
}

}  // namespace
}  // namespace sandgate::test
