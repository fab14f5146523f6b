// What one sandbox does to itself, and that its neighbour hardly notices.
#include <algorithm>
#include <chrono>
#include <vector>

#include "tests/local/namespaces/sandbox_fixture.hpp"

namespace sandgate::test {
namespace {

class NeighboursTest : public SandboxTest {
 protected:
  // The median time of one `true` in the quiet sandbox.
  static double median_ms(int runs = 25) {
    std::vector<double> times;
    for (int i = 0; i < runs; ++i) {
      const auto start = std::chrono::steady_clock::now();
      node().exec(id(), Command{.argv = {"/bin/true"}});
      times.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
              .count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }
  static std::string noisy(int64_t milli_vcpu, int64_t memory_mib) {
    CreateSpec spec = node().spec();
    spec.resources = {milli_vcpu, memory_mib, 1, 64};
    return node().create(spec);
  }
};

struct Noise {
  const char* what;
  const char* line;
};
constexpr Noise kNoises[] = {
    {"processors", "for i in $(seq 16); do (while :; do :; done) & done"},
    {"processes", "f() { f | f & }; (while :; do f 2>/dev/null; sleep 0.01; done) &"},
    {"memory",
     "(while :; do python3 -c 'x = bytearray(1 << 28)' 2>/dev/null; done) & "
     "(while :; do head -c 200M /dev/zero > /dev/shm/x 2>/dev/null; done) &"},
    {"disk", "(while :; do head -c 60M /dev/zero > /tmp/x; sync; rm /tmp/x; done) &"},
};

// A quarter of a processor is all the noise may take, so the quiet one keeps its pace. The bound
// is loose: it tells a limit from none, not a fast machine from a slow one.
TEST_F(NeighboursTest, ALimitedNeighbourIsHardlyNoticed) {
  const double alone = median_ms();
  for (const Noise& noise : kNoises) {
    const std::string bomb = noisy(250, 96);
    node().shell(bomb, std::string("(") + noise.line + ") > /dev/null 2>&1; sleep 0.3");
    const double beside = median_ms();
    RecordProperty(noise.what, std::to_string(beside / alone));
    EXPECT_LT(beside, 3 * alone + 5) << noise.what << ", " << alone << " ms alone";
    run(node().provider().kill(bomb));
  }
}

// Which process ends is the kernel's choice among the sandbox's own; the agent lives to tell, and
// nothing of another sandbox is chosen.
TEST_F(NeighboursTest, OutOfMemoryStaysAtHome) {
  shell("setsid sleep 1000 & echo $! > /tmp/sleeper");
  const std::string bomb = noisy(1000, 64);
  ExecResult result = node().shell(
      bomb,
      "for i in $(seq 12); do python3 -c 'x = bytearray(24 << 20); import time; time.sleep(1)' & "
      "done; wait; echo over");
  EXPECT_EQ(node().shell(bomb, "echo alive").out, "alive\n");
  EXPECT_EQ(output("kill -0 $(cat /tmp/sleeper) && echo there"), "there");
  // The control: with room enough all of them live.
  const std::string roomy = noisy(1000, 1024);
  EXPECT_EQ(node()
                .shell(roomy,
                       "for i in 1 2 3 4; do python3 -c 'x = bytearray(24 << 20)' & p=\"$p $!\"; "
                       "done; for i in $p; do wait $i || echo dead; done; echo over")
                .out,
            "over\n");
  EXPECT_NE(
      node().shell(bomb, "python3 -c 'x = bytearray(100 << 20)' || echo dead").out.find("dead"),
      std::string::npos);
  run(node().provider().kill(bomb));
  run(node().provider().kill(roomy));
}

TEST_F(NeighboursTest, TheLimitsAreWhatStopsTheBombs) {
  const std::string small = noisy(1000, 64), large = noisy(1000, 400);
  const char* fill = "python3 -c 'print(len(bytearray(200 << 20)))'";
  EXPECT_NE(node().shell(small, fill).exit_code, 0);
  EXPECT_EQ(node().shell(large, fill).exit_code, 0);
  const char* forks =
      "import os, time\nn = 0\ntry:\n  while n < 100:\n"
      "    if os.fork() == 0: time.sleep(20)\n    n += 1\nexcept OSError: pass\nprint(n == 100)";
  CreateSpec spec = node().spec();
  spec.resources.processes = 512;
  const std::string wide = node().create(spec);
  EXPECT_EQ(node().python(small, forks).out, "False\n");
  EXPECT_EQ(node().python(wide, forks).out, "True\n");
  for (const std::string& one : {small, large, wide}) run(node().provider().kill(one));
}

// Descriptors, locks and watches: one sandbox takes what it can of each and holds it.
TEST_F(NeighboursTest, HoardsOfSmallThingsEnd) {
  const std::string bomb = noisy(1000, 128);
  ExecResult result = node().python(bomb,
                                    "import os, resource, socket\n"
                                    "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
                                    "resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))\n"
                                    "def fill(make):\n"
                                    "  kept = []\n"
                                    "  try:\n"
                                    "    while len(kept) < 70000: kept.append(make())\n"
                                    "  except (OSError, MemoryError): return 'ends'\n"
                                    "  return 'endless'\n"
                                    "print(fill(lambda: os.open('/dev/null', os.O_RDONLY)))\n");
  EXPECT_TRUE(result.out == "ends\n" || !result.signal.empty()) << result.out << result.err;
  EXPECT_EQ(node().shell(bomb, "echo alive").out, "alive\n");
  EXPECT_EQ(output("echo alive"), "alive");
  run(node().provider().kill(bomb));
}

}  // namespace
}  // namespace sandgate::test
