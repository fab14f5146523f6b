// Landlock's scope of signals alone: a process of the machine that no other wall keeps from its
// neighbour, with the same rules as a sandbox.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "gateway/core/fd.hpp"
#include "local/namespaces/landlock.hpp"
#include "local/namespaces/pidfd.hpp"

namespace sandgate::test {
namespace {

// The first of a group of its own, which ends by the first signal that is not ignored.
pid_t start_target() {
  const pid_t pid = fork();
  if (pid != 0) {
    setpgid(pid, pid);
    return pid;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) pause();
}

bool is_reached(long sent) { return sent == 0; }

// A file that signals its owner when a byte arrives: the kernel sends it, not a call.
bool is_signalled_by_a_file(pid_t target) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  if (fcntl(ends[0], F_SETOWN, target) != 0 || fcntl(ends[0], F_SETSIG, SIGTERM) != 0 ||
      fcntl(ends[0], F_SETFL, O_ASYNC) != 0 || write(ends[1], "x", 1) != 1)
    return false;
  // The signal is pending before write() returns, so a target that was hit is over soon.
  const Fd watched = open_pidfd(target);
  pollfd over{watched.get(), POLLIN, 0};
  return poll(&over, 1, 200) == 1;
}

// One letter for each way by which the target was reached, the last of which ends it.
std::string ways_to(pid_t target) {
  siginfo_t info{};
  info.si_code = SI_QUEUE;
  info.si_pid = getpid();
  std::string ways;
  const Fd pidfd = open_pidfd(target);
  if (is_reached(kill(target, 0))) ways += 'p';
  if (is_reached(kill(-target, 0))) ways += 'g';
  if (is_reached(syscall(SYS_tgkill, target, target, SIGCONT))) ways += 't';
  if (is_reached(syscall(SYS_pidfd_send_signal, pidfd.get(), SIGCONT, nullptr, 0))) ways += 'd';
  if (is_reached(syscall(SYS_rt_sigqueueinfo, target, SIGCONT, &info))) ways += 'q';
  if (is_signalled_by_a_file(target)) ways += 'f';
  return ways;
}

// What a process, restricted or not, finds of a target that was there before it and of a child of
// its own.
struct Reach {
  std::string older, own;
};

std::string read_all(int from) {
  std::string text;
  char byte = 0;
  while (read(from, &byte, 1) == 1) text += byte;
  return text;
}

void tell_ways(int to, pid_t older, bool restricted) {
  if (restricted) restrict_with_landlock();
  const pid_t own = start_target();
  const std::string told = ways_to(older) + " " + ways_to(own);
  kill(own, SIGKILL);
  waitpid(own, nullptr, 0);
  [[maybe_unused]] const auto written = write(to, told.data(), told.size());
}

Reach reach_of(bool restricted) {
  const pid_t older = start_target();
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  const pid_t attacker = fork();
  if (attacker == 0) {
    try {
      tell_ways(writer.get(), older, restricted);
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  writer.reset();
  const std::string told = read_all(reader.get());
  waitpid(attacker, nullptr, 0);
  kill(older, SIGKILL);
  waitpid(older, nullptr, 0);
  const size_t space = told.find(' ');
  if (space == std::string::npos) return {};
  return {told.substr(0, space), told.substr(space + 1)};
}

TEST(LandlockTest, ItsScopeAloneKeepsSignalsInside) {
  if (landlock_abi() < 6) GTEST_SKIP() << "this kernel's Landlock has no scopes";
  const Reach inside = reach_of(true);
  EXPECT_EQ(inside.older, "");
  EXPECT_EQ(inside.own, "pgtdqf") << "what it starts itself";
  const Reach control = reach_of(false);
  EXPECT_EQ(control.older, "pgtdqf") << "the control";
  EXPECT_EQ(control.own, "pgtdqf");
}

}  // namespace
}  // namespace sandgate::test
