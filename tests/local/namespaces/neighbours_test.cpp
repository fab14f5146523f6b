// What one sandbox does to itself, and that its neighbour hardly notices.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "local/node/machine/kernel_limits.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"

namespace sandgate::test {
namespace {

// Milliseconds that a hundred of the same took.
struct Pace {
  double p50 = 0, p99 = 0;
};
Pace pace_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[times.size() * 99 / 100 - 1]};
}

struct Turn {
  Pace sibling;  // a program in another sandbox
  Pace server;  // an answer of the node
  double computing = 0;  // ms, by the clock of a program there that needs a processor
};

// One figure of turns beside a bomb, each between two quiet ones. Others use the machine, too, and
// it is faster at one time than at another: a turn is compared with those next to it, and what most
// rounds say counts.
class Figure {
 public:
  explicit Figure(double allowance = 0) : allowance_(allowance) {}
  void add(double before, double beside, double after) {
    // A fifth more than when it is quiet.
    const double most = 1.2 * std::max(before, after) + allowance_;
    more_ += beside > most ? 1 : -1;
    told_ << ' ' << beside << " of " << most;
  }
  bool noticed() const { return more_ > 0; }
  std::string told() const { return told_.str(); }

 private:
  double allowance_;
  int more_ = 0;
  std::ostringstream told_;
};

class NeighboursTest : public SandboxTest {
 protected:
  static Turn turn() {
    const auto ms_of = [](auto&& work) {
      const auto start = std::chrono::steady_clock::now();
      work();
      return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
          .count();
    };
    std::vector<double> sibling, server;
    for (int i = 0; i < 100; ++i) {
      sibling.push_back(ms_of([] { node().exec(id(), Command{.argv = {"/bin/true"}}); }));
      server.push_back(ms_of([] { run(node().provider().find(id())); }));
    }
    return {pace_of(std::move(sibling)), pace_of(std::move(server)), computing()};
  }
  // As long as the period of a quota, so that each meets about as much of what a neighbour has.
  // The interpreter's start is left out: how long it takes depends on how much of the machine's
  // memory its host has lent elsewhere meanwhile.
  static double computing() {
    return std::stod(node()
                         .python(id(),
                                 "import time\n"
                                 "begin = time.monotonic()\n"
                                 "for i in range(5000000): pass\n"
                                 "print((time.monotonic() - begin) * 1000)")
                         .out);
  }
  static Turn turn_beside(const char* line, int64_t milli_vcpu = 250, size_t neighbours = 1) {
    std::vector<std::string> bombs;
    while (bombs.size() < neighbours) {
      bombs.push_back(noisy(milli_vcpu, 96));
      node().shell(bombs.back(), std::string("(") + line + ") > /dev/null 2>&1; sleep 0.2");
    }
    const Turn beside = turn();
    for (const std::string& bomb : bombs) run(node().provider().kill(bomb));
    return beside;
  }
  static void expect_hardly_noticed(const char* noise);
  static std::string noisy(int64_t milli_vcpu, int64_t memory_mib) {
    CreateSpec spec = node().spec();
    spec.resources = {milli_vcpu, memory_mib, 1, 64};
    return node().create(spec);
  }
};

// A quarter of a processor is all that each of them may take.
constexpr const char* kWantsAllProcessors = "for i in $(seq 16); do (while :; do :; done) & done";
constexpr const char* kForks = "f() { f | f & }; (while :; do f 2>/dev/null; sleep 0.01; done) &";
constexpr const char* kFillsMemory =
    "(while :; do python3 -c 'x = bytearray(1 << 28)' 2>/dev/null; done) & "
    "(while :; do head -c 200M /dev/zero > /dev/shm/x 2>/dev/null; done) &";
constexpr const char* kWrites =
    "(while :; do head -c 60M /dev/zero > /tmp/x; sync; rm /tmp/x; done) &";

// A kernel without preemption lets a program run on until its tick, where one waits and where it
// is answered: only the slowest of a hundred meet that, and no limit of a neighbour shortens it.
constexpr double kTwoTicks = 8;  // ms, at 250 a second

void NeighboursTest::expect_hardly_noticed(const char* noise) {
  constexpr int kRounds = 7;
  Figure sibling, server, computing, slow_sibling(kTwoTicks), slow_server(kTwoTicks);
  Turn before = turn();
  for (int i = 0; i < kRounds; ++i) {
    const Turn beside = turn_beside(noise), after = turn();
    sibling.add(before.sibling.p50, beside.sibling.p50, after.sibling.p50);
    server.add(before.server.p50, beside.server.p50, after.server.p50);
    slow_sibling.add(before.sibling.p99, beside.sibling.p99, after.sibling.p99);
    slow_server.add(before.server.p99, beside.server.p99, after.server.p99);
    computing.add(before.computing, beside.computing, after.computing);
    before = after;
  }
  EXPECT_FALSE(sibling.noticed()) << sibling.told();
  EXPECT_FALSE(server.noticed()) << server.told();
  EXPECT_FALSE(computing.noticed()) << computing.told();
  EXPECT_FALSE(slow_sibling.noticed()) << slow_sibling.told();
  EXPECT_FALSE(slow_server.noticed()) << slow_server.told();
}

TEST_F(NeighboursTest, WhoWantsAllProcessorsIsHardlyNoticed) {
  expect_hardly_noticed(kWantsAllProcessors);
}
TEST_F(NeighboursTest, WhoForksIsHardlyNoticed) { expect_hardly_noticed(kForks); }
TEST_F(NeighboursTest, WhoFillsMemoryIsHardlyNoticed) { expect_hardly_noticed(kFillsMemory); }
TEST_F(NeighboursTest, WhoWritesIsHardlyNoticed) { expect_hardly_noticed(kWrites); }

// The control: several that may take all the processors are noticed by whoever needs one. Who wakes
// for a moment only may still come first.
TEST_F(NeighboursTest, LargeNeighboursAreNoticed) {
  Figure computing;
  for (int i = 0; i < 3; ++i) {
    const Turn before = turn(), beside = turn_beside(kWantsAllProcessors, 2000, 4), after = turn();
    computing.add(before.computing, beside.computing, after.computing);
  }
  EXPECT_TRUE(computing.noticed()) << computing.told();
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

// How many files more than before are open on this machine at most while it lives.
class MostOpenFiles {
 public:
  int64_t seen() const { return most_ - before_; }

 private:
  static int64_t now() {
    int64_t open = 0;
    std::ifstream("/proc/sys/fs/file-nr") >> open;
    return open;
  }

  const int64_t before_ = now();
  std::atomic<int64_t> most_ = before_;
  std::jthread watch_{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      most_ = std::max<int64_t>(most_, now());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }};
};

// Processes enough for eight times what a machine of 4 GiB lets be open by itself.
constexpr const char* kOpenAll =
    "import os, resource, signal\n"
    "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
    "resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))\n"
    "for n in range(50):\n"
    "  r, w = os.pipe()\n"
    "  if os.fork() == 0:\n"
    "    try:\n"
    "      while True: os.open('/dev/null', os.O_RDONLY)\n"
    "    except OSError: os.write(w, b'full')\n"
    "    signal.pause()\n"
    "  os.close(w)\n"
    "  if not os.read(r, 4): break\n";

TEST_F(NeighboursTest, TheMachineHasEnoughForAllOnceANodeHasBegun) {
  for (const ProbeResult& result : probe_kernel_limits())
    EXPECT_EQ(result.detail.find("until"), std::string::npos) << result.name << result.detail;
}

// What limits them is memory alone, so that no sandbox can take all that the machine has.
TEST_F(NeighboursTest, OpenFilesAreLimitedByMemory) {
  const auto most_within = [](int64_t mib) {
    const std::string bomb = noisy(1000, mib);
    const MostOpenFiles most;
    node().python(bomb, kOpenAll);
    EXPECT_EQ(node().shell(bomb, "echo alive").out, "alive\n");
    run(node().provider().kill(bomb));
    return most.seen();
  };
  const int64_t few = most_within(128), more = most_within(400);
  EXPECT_LT(few, (128 << 20) / 128);
  EXPECT_GT(more, few + few / 2);
  EXPECT_LT(more, (400 << 20) / 128);
}

}  // namespace
}  // namespace sandgate::test
