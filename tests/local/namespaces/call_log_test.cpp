// What programs in a sandbox cannot have the machine log: their system calls, and lists of all of
// them when their memory is short.
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "gateway/core/fd.hpp"
#include "gateway/core/files.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

class CallLogTest : public SandboxTest {};
class OomReportTest : public SandboxTest {};
class AuditLogTest : public SandboxTest {};

constexpr const char* kSetting = "/proc/sys/kernel/seccomp/actions_logged";
constexpr const char* kListsTasks = "/proc/sys/vm/oom_dump_tasks";

// The kernel's log from the time of its construction on.
class KernelLog {
 public:
  KernelLog() { lseek(log_.get(), 0, SEEK_END); }
  bool can_be_read() const { return static_cast<bool>(log_); }
  // Whether a line has told of a call of a program of this name by now.
  bool tells_of(const std::string& program) { return has("comm=\"" + program + "\""); }
  // Whether these words are in it by now.
  bool has(const std::string& words) {
    char line[8192];
    for (ssize_t size = 0; (size = read(log_.get(), line, sizeof line)) > 0 || errno == EPIPE;)
      if (size > 0) told_.append(line, static_cast<size_t>(size));
    return told_.find(words) != std::string::npos;
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

// One program waits while another takes more memory than there is. Prints how that one ends.
std::string exceed_memory(const std::string& number) {
  return "import mmap, os, time\n"
         "def named(name, then):\n"
         "  one = os.fork()\n"
         "  if one == 0: open('/proc/self/comm', 'w').write(name); then(); os._exit(0)\n"
         "  return one\n"
         "def take():\n"
         "  open('/proc/self/oom_score_adj', 'w').write('1000')\n"
         "  memory = mmap.mmap(-1, 8 << 30)\n"
         "  for at in range(0, 8 << 30, 4096): memory[at] = 1\n"
         "idle = named('idle" +
         number +
         "', lambda: time.sleep(60))\n"
         "time.sleep(0.2)\n"
         "print(os.waitpid(named('hungry" +
         number +
         "', take), 0)[1])\n"
         "os.kill(idle, 9)\n";
}

TEST_F(OomReportTest, ListsNotAllPrograms) {
  KernelLog log;
  const std::string reduced = read_text_file(kListsTasks).value_or("");
  if (!log.can_be_read()) GTEST_SKIP() << "needs to read the kernel's log, /dev/kmsg";
  if (access(kListsTasks, W_OK) != 0)
    GTEST_SKIP() << "needs to write vm.oom_dump_tasks; /proc/sys is read-only here";
  EXPECT_EQ(reduced, "0\n") << "the node has reduced it";
  EXPECT_EQ(python(exceed_memory("1")).out, "9\n");
  EXPECT_TRUE(eventually([&] { return log.has("(hungry1)"); }));
  // The control, which comes later in the log, too.
  std::ofstream(kListsTasks) << "1\n";
  EXPECT_EQ(python(exceed_memory("2")).out, "9\n");
  const bool listed = eventually([&] { return log.has(" idle2\n"); });
  std::ofstream(kListsTasks) << reduced;
  if (!listed)
    GTEST_SKIP() << "the control needs a report: the kernel makes ten in five seconds at most, and "
                    "other programs have caused them";
  EXPECT_FALSE(log.has(" idle1\n"));
}

// Turns the machine's audit log on, which goes to the kernel's then, and off again at the end.
class AuditLog {
 public:
  AuditLog() : is_on_(socket_ && !is_on_already() && set(1)) {}
  ~AuditLog() {
    if (is_on_) set(0);
  }
  bool is_on() const { return is_on_; }

 private:
  struct Message {
    nlmsghdr head{sizeof(Message), 0, NLM_F_REQUEST, 1, 0};
    audit_status status{};
  };
  bool is_on_already() {
    Message question, answer;
    question.head.nlmsg_type = AUDIT_GET;
    send(socket_.get(), &question, sizeof question, 0);
    return recv(socket_.get(), &answer, sizeof answer, 0) <= 0 || answer.status.enabled != 0;
  }
  bool set(uint32_t enabled) {
    Message order;
    order.head.nlmsg_type = AUDIT_SET;
    order.status.mask = AUDIT_STATUS_ENABLED;
    order.status.enabled = enabled;
    return send(socket_.get(), &order, sizeof order, 0) == sizeof order;
  }

  const Fd socket_{socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT)};
  const bool is_on_;
};

// Restricts itself, and is refused the file.
std::string be_refused(const std::string& file) {
  return "import ctypes, struct\n"
         "libc, name = ctypes.CDLL(None), '/tmp/" +
         file +
         "'\n"
         "open(name, 'w').close()\n"
         "libc.prctl(38, 1, 0, 0, 0)\n"
         "ruleset = libc.syscall(444, struct.pack('QQQ', 4, 0, 0), 8, 0)\n"
         "if libc.syscall(446, ruleset, 0) == 0:\n"
         "  try: open(name)\n"
         "  except PermissionError: print('refused')\n";
}

TEST_F(AuditLogTest, TellsOfNoRulesOfProgramsInside) {
  KernelLog log;
  const AuditLog audit;
  if (!log.can_be_read()) GTEST_SKIP() << "needs to read the kernel's log, /dev/kmsg";
  if (!audit.is_on())
    GTEST_SKIP() << "needs a kernel with an audit log that no auditd has turned on already";
  EXPECT_EQ(python(be_refused("inside-refused")).out, "refused\n");
  // The control, which comes later in the log, too.
  const std::string line = "python3 -c \"" + be_refused("outside-refused") + "\" >/dev/null";
  EXPECT_EQ(std::system(line.c_str()), 0);
  std::remove("/tmp/outside-refused");
  if (!eventually([&] { return log.has("outside-refused"); }))
    GTEST_SKIP() << "the control needs Linux 6.15, which tells the audit log of Landlock";
  EXPECT_FALSE(log.has("inside-refused"));
}

}  // namespace
}  // namespace sandgate::test
