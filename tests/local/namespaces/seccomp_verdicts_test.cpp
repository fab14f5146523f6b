// What the filter itself says of a call. Inside a sandbox many calls fail without it, too, for want
// of a privilege or because of their arguments, so there a hole in the list might not be seen.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>
#include <vector>

#include "local/namespaces/seccomp_policy.hpp"
#include "tests/local/namespaces/forbidden_calls.hpp"

namespace sandgate::test {
namespace {

using Arguments = std::array<uint64_t, 6>;

std::vector<sock_filter> program_of(const Fd& file) {
  struct stat status {};
  EXPECT_EQ(fstat(file.get(), &status), 0);
  std::vector<sock_filter> program(static_cast<size_t>(status.st_size) / sizeof(sock_filter));
  EXPECT_EQ(pread(file.get(), program.data(), program.size() * sizeof(sock_filter), 0),
            status.st_size);
  return program;
}

// Runs a program as the kernel does, as far as such programs need it.
uint32_t verdict(const std::vector<sock_filter>& program, const seccomp_data& call) {
  uint32_t word = 0;
  for (size_t at = 0; at < program.size(); ++at) {
    const sock_filter& one = program[at];
    const auto jump = [&](bool holds) { at += holds ? one.jt : one.jf; };
    switch (one.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        std::memcpy(&word, reinterpret_cast<const char*>(&call) + one.k, sizeof word);
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        word &= one.k;
        break;
      case BPF_JMP | BPF_JA:
        at += one.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        jump(word == one.k);
        break;
      case BPF_JMP | BPF_JGT | BPF_K:
        jump(word > one.k);
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        jump(word >= one.k);
        break;
      case BPF_RET | BPF_K:
        return one.k;
      default:
        ADD_FAILURE() << "instruction " << one.code;
        return SECCOMP_RET_KILL_PROCESS;
    }
  }
  ADD_FAILURE() << "no verdict";
  return SECCOMP_RET_KILL_PROCESS;
}

constexpr uint32_t refused_with(uint32_t error) { return SECCOMP_RET_ERRNO | error; }

class SeccompVerdictsTest : public ::testing::Test {
 protected:
  using Program = std::vector<sock_filter>;

  static seccomp_data call_of(const char* name, const Arguments& arguments) {
    seccomp_data call{};
    call.nr = seccomp_syscall_resolve_name(name);
    call.arch = AUDIT_ARCH_X86_64;
    std::copy(arguments.begin(), arguments.end(), call.args);
    return call;
  }
  bool refuses(const char* name, const Arguments& arguments) const {
    const seccomp_data call = call_of(name, arguments);
    const auto is_error = [&](const Program& program) {
      return (verdict(program, call) & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO;
    };
    return is_error(calls_) || is_error(arguments_);
  }

  const SeccompPrograms compiled_ = compile_seccomp();
  const Program calls_ = program_of(compiled_.calls);
  const Program calls_with_debug_ = program_of(compiled_.calls_with_debug);
  const Program arguments_ = program_of(compiled_.arguments);
};

TEST_F(SeccompVerdictsTest, ForbiddenCallsAreRefusedByTheFilterItself) {
  std::istringstream names(kForbiddenCalls);
  for (std::string name; names >> name;) {
    for (const uint64_t each : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
      const seccomp_data call = call_of(name.c_str(), {each, each, each, each, each, each});
      if (call.nr < 0) continue;
      EXPECT_EQ(verdict(calls_, call), refused_with(EPERM)) << name;
    }
  }
  const seccomp_data debug = call_of("ptrace", {});
  EXPECT_EQ(verdict(calls_with_debug_, debug), SECCOMP_RET_ALLOW) << "the control";
  EXPECT_EQ(verdict(calls_, call_of("getpid", {})), SECCOMP_RET_ALLOW) << "the control";
}

struct Refused {
  const char* name;
  Arguments arguments;
};
constexpr Refused kRefused[] = {
    {"clone", {CLONE_NEWNS}},
    {"clone", {CLONE_NEWUSER}},
    {"clone", {CLONE_NEWNET}},
    {"clone", {CLONE_NEWPID}},
    {"clone", {CLONE_NEWIPC}},
    {"clone", {CLONE_NEWUTS}},
    {"clone", {CLONE_NEWCGROUP}},
    {"clone", {CLONE_SIGHAND}},
    {"unshare", {CLONE_NEWUSER}},
    {"unshare", {CLONE_NEWTIME}},
    {"unshare", {CLONE_NEWNS | CLONE_FILES}},
    {"socket", {AF_PACKET, SOCK_RAW}},
    {"socket", {38, SOCK_SEQPACKET}},
    {"socket", {40, SOCK_STREAM}},
    {"socket", {AF_INET, SOCK_RAW}},
    {"socket", {AF_INET, SOCK_STREAM, 262}},
    {"socket", {AF_NETLINK, SOCK_RAW, 15}},
    {"socketpair", {AF_INET, SOCK_STREAM}},
    {"personality", {0x40000}},
    {"ioctl", {0, TIOCSTI}},
    {"ioctl", {0, TIOCLINUX}},
    {"ioctl", {0, TIOCSETD}},
    {"ioctl", {0, TIOCCONS}},
    {"ioctl", {0, FIOASYNC}},
    {"ioctl", {0, 0x89a0}},
    {"mknod", {0, S_IFCHR | 0666}},
    {"mknodat", {0, 0, S_IFBLK | 0666}},
    {"prctl", {PR_SET_SECCOMP}},
    {"prctl", {62}},
    {"prctl", {67}},
    {"prctl", {77}},
    {"prctl", {78}},
    {"prctl", {PR_SET_VMA}},
    {"mmap", {0, 0, 0, MAP_HUGETLB | MAP_PRIVATE}},
    {"memfd_create", {0, MFD_HUGETLB}},
    {"shmget", {0, 0, 04000}},
    {"madvise", {0, 0, MADV_MERGEABLE}},
    {"madvise", {0, 0, 21}},
    {"fadvise64", {0, 0, 0, POSIX_FADV_DONTNEED}},
    {"mmap", {0, 0, 0, MAP_LOCKED | MAP_SHARED}},
    {"mlock", {}},
    {"mlock2", {}},
    {"mlockall", {}},
    {"setsockopt", {0, SOL_SOCKET, SO_ATTACH_FILTER}},
    {"setsockopt", {0, SOL_SOCKET, SO_RCVBUF}},
    {"setsockopt", {0, SOL_SOCKET, SO_LINGER}},
    {"setsockopt", {0, 6, 31}},
    {"setsockopt", {0, 17, 1}},
    {"sendto", {0, 0, 0, MSG_OOB}},
    {"sendmsg", {0, 0, MSG_OOB}},
    {"sendmmsg", {0, 0, 0, MSG_OOB}},
    {"fcntl", {0, F_SETFL, O_ASYNC}},
    {"fcntl", {0, F_SETLEASE}},
    {"fcntl", {0, F_NOTIFY}},
    {"setrlimit", {RLIMIT_CORE}},
    {"prlimit64", {0, RLIMIT_CORE, 1}},
    {"prlimit64", {7, RLIMIT_CORE, 1}},
    {"prlimit64", {1, RLIMIT_NOFILE, 1}},
    {"setpriority", {PRIO_PROCESS, 1}},
    {"setpriority", {PRIO_USER, 0}},
    {"ioprio_set", {1, 1}},
    {"ioprio_set", {3, 0}},
    {"sched_setaffinity", {1}},
    {"sched_setparam", {1}},
    {"sched_setscheduler", {1}},
    {"setxattr", {0, 0, 0, 1001}},
    {"pipe2", {0, O_EXCL}},
    {"pipe2", {0, O_EXCL | O_CLOEXEC}},
    {"poll", {0, 1025}},
    {"select", {1025}},
    {"semop", {0, 0, 33}},
};

// The kernel ignores the upper half of most arguments.
TEST_F(SeccompVerdictsTest, UpperBitsOpenNothing) {
  for (const Refused& one : kRefused) {
    ASSERT_TRUE(refuses(one.name, one.arguments)) << one.name << " " << &one - kRefused;
    for (const uint64_t high : {uint64_t{1} << 32, uint64_t{1} << 63, ~uint64_t{0} << 32}) {
      for (uint64_t changed = 1; changed < 64; ++changed) {
        Arguments arguments = one.arguments;
        for (size_t i = 0; i < arguments.size(); ++i)
          if (changed >> i & 1) arguments[i] |= high;
        EXPECT_TRUE(refuses(one.name, arguments))
            << one.name << " " << &one - kRefused << " " << high << " in " << changed;
      }
    }
  }
}

TEST_F(SeccompVerdictsTest, OrdinaryArgumentsAreAllowed) {
  constexpr Refused kAllowed[] = {{"clone", {SIGCHLD}},
                                  {"unshare", {CLONE_FILES}},
                                  {"socket", {AF_INET, 1, 6}},
                                  {"socketpair", {AF_UNIX, SOCK_STREAM}},
                                  {"personality", {0xffffffff}},
                                  {"ioctl", {0, TIOCGWINSZ}},
                                  {"mknod", {0, S_IFIFO | 0600}},
                                  {"prctl", {PR_SET_NAME}},
                                  {"mmap", {0, 0, 0, 0x22}},
                                  {"madvise", {0, 0, MADV_DONTNEED}},
                                  {"fcntl", {0, F_SETFL, 0}},
                                  {"setsockopt", {0, SOL_SOCKET, SO_REUSEADDR}},
                                  {"sendto", {0, 0, 0, 0}},
                                  {"prlimit64", {7, RLIMIT_NOFILE, 1}},
                                  {"pipe2", {0, O_CLOEXEC | O_NONBLOCK | O_DIRECT}},
                                  {"poll", {0, 1024}},
                                  {"setpriority", {PRIO_PROCESS, 0, 1}}};
  for (const Refused& one : kAllowed) EXPECT_FALSE(refuses(one.name, one.arguments)) << one.name;
}

TEST_F(SeccompVerdictsTest, NoCallOfAnotherArchitectureIsAllowed) {
  constexpr uint32_t kX32 = 0x40000000;
  for (int number = 0; number < 1024; ++number) {
    seccomp_data call{};
    call.arch = AUDIT_ARCH_X86_64;
    call.nr = static_cast<int>(kX32) + number;
    for (const Program* program : {&calls_, &arguments_})
      EXPECT_EQ(verdict(*program, call), refused_with(ENOSYS)) << "x32 " << number;
    call.nr = number;
    for (const uint32_t other : {uint32_t{AUDIT_ARCH_I386}, uint32_t{AUDIT_ARCH_AARCH64}}) {
      call.arch = other;
      for (const Program* program : {&calls_, &arguments_})
        EXPECT_EQ(verdict(*program, call), refused_with(ENOSYS)) << other << " " << number;
    }
  }
}

}  // namespace
}  // namespace sandgate::test
