// A program may have its system calls logged by the machine; one in a sandbox may not.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "gateway/core/files.hpp"
#include "local/fd.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

class CallLogTest : public SandboxTest {};

constexpr const char* kSetting = "/proc/sys/kernel/seccomp/actions_logged";

// The kernel's log from the time of its construction on.
class KernelLog {
 public:
  KernelLog() { lseek(log_.get(), 0, SEEK_END); }
  bool can_be_read() const { return static_cast<bool>(log_); }
  // Whether a line has told of a call of a program of this name by now.
  bool tells_of(const std::string& program) {
    char line[8192];
    for (ssize_t size = 0; (size = read(log_.get(), line, sizeof line)) > 0 || errno == EPIPE;)
      if (size > 0) told_.append(line, static_cast<size_t>(size));
    return told_.find("comm=\"" + program + "\"") != std::string::npos;
  }

 private:
  const Fd log_{open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  std::string told_;
};

// A program of the machine whose calls of getppid are logged.
void call_here(const char* name) {
  const pid_t child = fork();
  if (child == 0) {
    sock_filter answers[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                             BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
                             BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG),
                             BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog filter{4, answers};
    prctl(PR_SET_NAME, name);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
    syscall(SYS_getppid);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

// The same inside, with each way to ask for it: the answer itself, and the filter's flag.
constexpr const char* kCallInside =
    "import ctypes, os, struct\n"
    "libc = ctypes.CDLL(None)\n"
    "open('/proc/self/comm', 'w').write('inside')\n"
    "libc.prctl(38, 1, 0, 0, 0)\n"
    "for answer, flags in (0x7ffc0000, 0), (0x00050001, 2):\n"
    "  code = b''.join(struct.pack('HBBI', *one) for one in\n"
    "    ((0x20, 0, 0, 0), (0x15, 0, 1, 110), (6, 0, 0, answer), (6, 0, 0, 0x7fff0000)))\n"
    "  held = ctypes.create_string_buffer(code)\n"
    "  filter = struct.pack('HxxxxxxQ', 4, ctypes.addressof(held))\n"
    "  print(libc.syscall(317, 1, flags, filter))\n"
    "  os.getppid()\n";

TEST_F(CallLogTest, NobodyInsideWritesTheMachinesLog) {
  KernelLog log;
  const std::string reduced = read_text_file(kSetting).value_or("");
  if (!log.can_be_read() || reduced.empty())
    GTEST_SKIP() << "the log of the kernel cannot be read, or logs no calls";
  EXPECT_EQ(python(kCallInside).out, "0\n0\n");
  // The control, which comes later in the log, too.
  std::ofstream(kSetting) << "log\n";
  call_here("outside");
  const bool seen = eventually([&] { return log.tells_of("outside"); });
  std::ofstream(kSetting) << reduced;
  if (!seen) GTEST_SKIP() << "calls are logged elsewhere on this machine, or not at all";
  EXPECT_FALSE(log.tells_of("inside"));
}

}  // namespace
}  // namespace sandgate::test
