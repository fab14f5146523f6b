// Programs that use more processor time than their limit, in system calls that last seconds.
#include <chrono>
#include <string>
#include <thread>

#include "gateway/core/ids.hpp"
#include "local/namespaces/cgroup.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

// 32 processes that each want eight times their sandbox's memory in one call, for ever. Whoever of
// them the kernel kills for it is replaced.
constexpr const char* kHogs =
    "#include <sys/mman.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
    "int main(void) {\n"
    "  int hogs = 0;\n"
    "  for (;;) {\n"
    "    while (hogs < 32) {\n"
    "      pid_t child = fork();\n"
    "      if (child < 0) break;\n"
    "      hogs++;\n"
    "      if (child == 0)\n"
    "        for (;;) {\n"
    "          char *room = mmap(0, 4ul << 30, PROT_READ | PROT_WRITE,\n"
    "                            MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE | MAP_NORESERVE, -1, "
    "0);\n"
    "          if (room != MAP_FAILED) munmap(room, 4ul << 30);\n"
    "        }\n"
    "    }\n"
    "    if (wait(0) > 0) hogs--;\n"
    "  }\n"
    "}\n";

class CpuLimitTest : public SandboxTest {
 protected:
  static constexpr int64_t kMilliVcpu = 100;

  static std::string box_with_hogs() {
    static const std::string program = compile_c(kHogs);
    CreateSpec spec = node().spec();
    spec.resources = {kMilliVcpu, 512, 1, 128};
    const std::string box = node().create(spec);
    node().write(box, "hogs", program, 0755);
    return box;
  }
  // Seconds of processor time that the sandbox has used beyond its limit since `begin`.
  static double debt(const std::string& box, Steady::time_point begin) {
    const std::chrono::duration<double> passed = Steady::now() - begin;
    const int64_t used = run(node().provider().metrics(box)).cpu_micros;
    return static_cast<double>(used) / 1e6 - passed.count() * kMilliVcpu / 1000;
  }
  template <class F>
  static Steady::duration time_of(F action) {
    const auto begin = Steady::now();
    action();
    return Steady::now() - begin;
  }
};

constexpr const char* kNoDebt =
    " s owed: this kernel holds programs to their limit in the midst of a call, or other programs"
    " keep the machine busy";

// What is stopped by the limit dies only where it may run: it would wait for ten times its debt.
TEST_F(CpuLimitTest, WhatIsInDebtEndsAtOnce) {
  const std::string box = box_with_hogs();
  Command command;
  command.argv = {"./hogs"};
  command.background = command.keep_on_disconnect = true;
  command.process_id = make_id("pr");
  const auto begin = Steady::now();
  run(node().provider().exec(box, command));
  double owed = 0;
  const bool in_debt = eventually([&] { return (owed = debt(box, begin)) > 1.5; }, 30s);
  EXPECT_LT(time_of([&] { run(node().provider().kill(box)); }), 6s);
  if (!in_debt) GTEST_SKIP() << owed << kNoDebt;
}

// The agent has the same limit as the programs, and kills them when their time is over.
TEST_F(CpuLimitTest, ATimeLimitHoldsForWhatIsInDebt) {
  const std::string box = box_with_hogs();
  Command command;
  command.argv = {"./hogs"};
  command.timeout = 4s;
  ExecResult result;
  double owed = 0;
  std::jthread watch([&, begin = Steady::now()] {
    std::this_thread::sleep_for(3500ms);
    owed = debt(box, begin);
  });
  EXPECT_LT(time_of([&] { result = node().exec(box, command); }), 9s);
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_LT(time_of([&] { EXPECT_EQ(node().shell(box, "echo alive").out, "alive\n"); }), 5s);
  watch.join();
  run(node().provider().kill(box));
  if (owed < 1) GTEST_SKIP() << owed << kNoDebt;
}

}  // namespace
}  // namespace sandgate::test
