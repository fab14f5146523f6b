// A crash inside must not start the machine's core dump helper, which runs as root and outside.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "local/fd.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"

namespace sandgate::test {
namespace {

constexpr const char* kPattern = "/proc/sys/kernel/core_pattern";

// The machine's helper is a script that notes whose crash it was told of, until the test ends.
class CoreDumpTest : public SandboxTest {
 protected:
  void SetUp() override {
    SandboxTest::SetUp();
    if (IsSkipped()) return;
    std::ifstream(kPattern) >> before_;
    const std::string helper = directory_.path() + "/helper";
    std::ofstream(helper) << "#!/bin/sh\necho $1 >> " << notes() << "\ncat > /dev/null\n";
    chmod(helper.c_str(), 0755);
    std::ofstream pattern(kPattern);
    pattern << "|" << helper << " %e" << std::flush;
    if (!pattern) GTEST_SKIP() << "the core pattern of this machine cannot be set";
  }
  void TearDown() override {
    if (!before_.empty()) std::ofstream(kPattern) << before_ << std::flush;
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
  std::string before_;
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

}  // namespace
}  // namespace sandgate::test
