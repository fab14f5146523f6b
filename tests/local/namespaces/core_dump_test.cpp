// A crash inside must not start the machine's core dump helper, which runs as root and outside.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "gateway/core/fd.hpp"
#include "local/node/machine/core_dump_sockets.hpp"
#include "local/node/machine/kernel_function.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"

namespace sandgate::test {
namespace {

constexpr const char* kPattern = "/proc/sys/kernel/core_pattern";

// The machine's setting of what is done with crashes, until the end of its life.
class CorePattern {
 public:
  explicit CorePattern(const std::string& pattern) {
    std::getline(std::ifstream(kPattern), before_);
    std::ofstream file(kPattern);
    file << pattern << std::flush;
    is_set_ = static_cast<bool>(file);
  }
  ~CorePattern() { std::ofstream(kPattern) << before_ << std::flush; }
  CorePattern(const CorePattern&) = delete;
  bool is_set() const { return is_set_; }

 private:
  std::string before_;
  bool is_set_ = false;
};

// The machine's helper is a script that notes whose crash it was told of, until the test ends.
class CoreDumpTest : public SandboxTest {
 protected:
  void SetUp() override {
    SandboxTest::SetUp();
    if (IsSkipped()) return;
    const std::string helper = directory_.path() + "/helper";
    std::ofstream(helper) << "#!/bin/sh\necho $1 >> " << notes() << "\ncat > /dev/null\n";
    chmod(helper.c_str(), 0755);
    pattern_.emplace("|" + helper + " %e");
    if (!pattern_->is_set()) GTEST_SKIP() << "the core pattern of this machine cannot be set";
  }
  std::string notes() const { return directory_.path() + "/notes"; }
  bool noted(const std::string& program) const {
    std::ifstream in(notes());
    for (std::string line; std::getline(in, line);)
      if (line == program) return true;
    return false;
  }

 private:
  TempDirectory directory_;
  std::optional<CorePattern> pattern_;
};

// A crash on the machine itself, after the one inside: once it is noted the other would be, too.
void crash_here(const char* name, rlim_t limit) {
  if (pid_t child = fork(); child != 0) {
    waitpid(child, nullptr, 0);
    return;
  }
  const rlimit core{limit, limit};
  setrlimit(RLIMIT_CORE, &core);
  execl("/bin/bash", name, "-c", "printf %s \"$0\" > /proc/self/comm; kill -SEGV $$", name,
        nullptr);
  _exit(1);
}

TEST_F(CoreDumpTest, ACrashInsideStartsNothingOutside) {
  const char* crash = "printf inside > /proc/self/comm; kill -SEGV $$";
  const std::string line = std::string("bash -c '") + crash + "'";
  for (const char* user : {"", "root"}) {
    shell(line, user);
    shell("ulimit -c 0; " + line, user);
    python(
        "import os, resource\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        "open('/proc/self/comm', 'w').write('inside')\nos.abort()",
        user);
  }
  // The control: even a limit of 0 does not keep the kernel from starting a helper.
  crash_here("outside", 0);
  bool seen = false;
  for (int i = 0; i < 200 && !(seen = noted("outside")); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(seen);
  EXPECT_FALSE(noted("inside"));
}

// Who sets a limit and asks for the old one in one call is told the truth or nothing.
TEST_F(CoreDumpTest, NoOldLimitIsInvented) {
  for (const char* user : {"", "root"})
    EXPECT_EQ(python("import os, resource as r\n"
                     "def tried(*words):\n"
                     "  try: return r.prlimit(*words)\n"
                     "  except PermissionError: return 'refused'\n"
                     "r.setrlimit(r.RLIMIT_CORE, (0, 0))\n"
                     "print(tried(0, r.RLIMIT_CORE, (0, 0)), tried(1, r.RLIMIT_CORE, (0, 0)),\n"
                     "      tried(0, r.RLIMIT_CORE))\n",
                     user)
                  .out,
              "refused refused (1, 1)\n")
        << user;
}

// A socket of the machine that crashes are sent to. Whoever comes is counted and sent away, so that
// nobody waits for it.
class CrashServer {
 public:
  CrashServer() {
    address_.sun_family = AF_UNIX;
    std::strncpy(address_.sun_path, path().c_str(), sizeof address_.sun_path - 1);
    listens_ =
        bind(socket_.get(), address(), sizeof address_) == 0 && listen(socket_.get(), 16) == 0;
    thread_ = std::thread([this] {
      while (Fd(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC))) ++came_;
    });
  }
  ~CrashServer() {
    shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }
  CrashServer(const CrashServer&) = delete;
  bool listens() const { return listens_; }
  std::string path() const { return directory_.path() + "/crashes"; }
  // How many came since the last call: they are counted in turn, and this one is the last.
  int came() {
    const Fd last(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    char none = 0;
    EXPECT_EQ(connect(last.get(), address(), sizeof address_), 0);
    EXPECT_LE(read(last.get(), &none, 1), 0);
    return came_.exchange(0) - 1;
  }

 private:
  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }

  TempDirectory directory_;
  sockaddr_un address_{};
  const Fd socket_{socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  bool listens_ = false;
  std::atomic<int> came_ = 0;
  std::thread thread_;
};

class CrashSocketTest : public SandboxTest {};

// No limit of a program keeps the kernel from sending its crash there, so the node does.
TEST_F(CrashSocketTest, ACrashInsideIsSentNowhere) {
  if (kernel_version() < std::pair(6, 16)) GTEST_SKIP() << "this kernel sends crashes to no socket";
  if (const ProbeResult probe = probe_core_dump_sockets();
      probe.detail != "none of sandboxes while a node runs")
    GTEST_SKIP() << "this kernel takes no program that refuses it the socket: " << probe.detail;
  CrashServer server;
  ASSERT_TRUE(server.listens());
  const CorePattern pattern("@" + server.path());
  if (!pattern.is_set()) GTEST_SKIP() << "the core pattern of this machine cannot be set";
  for (const char* user : {"", "root"}) {
    EXPECT_EQ(shell("bash -c 'kill -SEGV $$'; echo $?", user).out, "139\n") << user;
    EXPECT_EQ(python("import socket\nsocket.socketpair(); print('made')", user).out, "made\n");
    EXPECT_EQ(server.came(), 0) << user;
  }
  for (const rlim_t limit : {0, 1}) {
    crash_here("outside", limit);
    EXPECT_EQ(server.came(), 1) << "the control";
  }
}

}  // namespace
}  // namespace sandgate::test
