// What a namespace alone keeps apart: each attack meets no other wall, and succeeds outside of it.
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "tests/local/namespaces/weak_node.hpp"

namespace sandgate::test {
namespace {

// Left out, so that what is left is the namespaces.
constexpr const char* kOtherWalls = "seccomp,capabilities,landlock,limits,dumpable,hidepid";

class SpacesTest : public WeakTest {
 protected:
  static uid_t account_outside(const std::string& sandbox, uid_t inside) {
    return node().record(sandbox).id_base + inside;
  }
};

// Runs `work`, which returns an exit code, in a process of the machine that has this account.
template <class F>
pid_t start_as(uid_t account, F work) {
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) return -1;
  const pid_t pid = fork();
  if (pid == 0) {
    if (setgroups(0, nullptr) != 0 || setresgid(account, account, account) != 0 ||
        setresuid(account, account, account) != 0)
      _exit(99);
    close(ready[1]);  // the other side's read ends
    _exit(work());
  }
  close(ready[1]);
  char none = 0;
  EXPECT_EQ(read(ready[0], &none, 1), 0);
  close(ready[0]);
  return pid;
}

int end_of(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

// A process of the machine that waits to be killed, with an account of a sandbox.
class Target {
 public:
  explicit Target(uid_t account)
      : pid_(start_as(account, []() -> int {
          setpgid(0, 0);
          for (;;) pause();
        })) {}
  ~Target() {
    if (lives()) kill(pid_, SIGKILL);
    if (!over_) end_of(pid_);
  }
  Target(const Target&) = delete;
  pid_t pid() const { return pid_; }
  bool lives() {
    if (!over_) over_ = waitpid(pid_, nullptr, WNOHANG) == pid_;
    return !over_;
  }

 private:
  pid_t pid_;
  bool over_ = false;
};

// By its number, its group and a descriptor, and whoever may be reached at all.
std::string attack_on(pid_t target) {
  return "import os, signal\n"
         "def reached(send):\n"
         "  try: send()\n"
         "  except OSError: return False\n"
         "  return True\n"
         "t = " +
         std::to_string(target) +
         "\n"
         "tries = [reached(lambda: os.kill(t, 9)), reached(lambda: os.kill(-t, 9)),\n"
         "  reached(lambda: os.pidfd_open(t)), os.path.exists('/proc/%d' % t)]\n"
         "reached(lambda: os.kill(-1, 9))\n"
         "print('broken' if any(tries) else 'refused')";
}

// The machine's process has the account of those who attack it, so nothing but its number, which
// means nothing inside, is between them.
TEST_F(SpacesTest, ProcessesOfTheMachineAreFar) {
  const std::string& sandbox = without(kOtherWalls);
  for (const auto& [user, id] : {std::pair{"", 1000u}, std::pair{"root", 0u}}) {
    const uid_t account = account_outside(sandbox, id);
    Target target(account);
    EXPECT_EQ(node().python(sandbox, attack_on(target.pid()), user).out, "refused\n") << user;
    EXPECT_TRUE(target.lives()) << user;
    EXPECT_EQ(end_of(start_as(account, [&] { return kill(target.pid(), SIGKILL); })), 0)
        << "the control: outside of the namespace the same account reaches it";
  }
}

TEST_F(SpacesTest, ANewNameOfTheMachineStaysInside) {
  const auto name_of_the_machine = [] {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return std::string(name.data());
  };
  const std::string before = name_of_the_machine();
  EXPECT_EQ(node().shell(without(kOtherWalls), "hostname other; uname -n", "root").out, "other\n");
  EXPECT_EQ(name_of_the_machine(), before);
  EXPECT_EQ(node().shell(without("uts"), "uname -n").out, before + "\n") << "the control";
}

// By a path that leads up from the root, where the machine's own root is as long as it is mounted.
TEST_F(SpacesTest, FilesOfTheMachineAreFar) {
  const TempDirectory directory("/var/tmp");
  const std::string path = directory.path() + "/canary";
  ASSERT_EQ(chmod(directory.path().c_str(), 0755), 0);
  std::ofstream(path) << "canary\n";
  for (const char* user : {"", "root"}) {
    const std::string line = "cat /.." + path + " 2>/dev/null || echo refused";
    EXPECT_EQ(node().shell(without(kOtherWalls), line, user).out, "refused\n") << user;
    EXPECT_EQ(node().shell(without("host_mounts"), line, user).out, "canary\n") << "the control";
  }
}

// What the machine's root may do, and nobody who is root of another user namespace.
constexpr const char* kPrivileged =
    "import os, stat\n"
    "def tried(what, do):\n"
    "  try: do()\n"
    "  except OSError: print(what, 'refused')\n"
    "  else: print(what, 'done')\n"
    "open('file', 'w').close()\n"
    "tried('device', lambda: os.mknod('device', stat.S_IFCHR | 0o600, os.makedev(1, 3)))\n"
    "tried('attribute', lambda: os.setxattr('file', 'trusted.x', b'x'))\n"
    "tried('owner', lambda: os.chown('file', 70000, 70000))\n"
    "tried('priority', lambda: os.setpriority(os.PRIO_PROCESS, 0, -20))\n";

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const out = popen(command.c_str(), "r");
  for (int byte = 0; out != nullptr && (byte = fgetc(out)) != EOF;) text += static_cast<char>(byte);
  if (out != nullptr) pclose(out);
  return text;
}

TEST_F(SpacesTest, RootOfTheSandboxIsNotTheMachines) {
  const auto each = [](const std::string& answer) {
    std::string lines;
    for (const char* what : {"device", "attribute", "owner", "priority"})
      lines += std::string(what) + " " + answer + "\n";
    return lines;
  };
  const std::string inside = std::string("import os\nos.chdir('/dev/shm')\n") + kPrivileged;
  EXPECT_EQ(node().python(without(kOtherWalls), inside, "root").out, each("refused"));
  const TempDirectory directory("/dev/shm");
  std::ofstream(directory.path() + "/tries.py") << kPrivileged;
  EXPECT_EQ(output_of("cd " + directory.path() + " && exec python3 tries.py"), each("done"))
      << "the control";
}

}  // namespace
}  // namespace sandgate::test
