#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/local/namespaces/sandbox_fixture.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

// Every bomb goes off in a sandbox of its own: 256 MiB, 1 GiB of disk, 128 processes, one CPU.
class BombsTest : public SandboxTest {};

TEST_F(BombsTest, WhenMemoryIsShortProgramsGoBeforeTheAgent) {
  for (const char* user : {"", "root"})
    EXPECT_EQ(output("cat /proc/self/oom_score_adj", user), "500") << user;
}

// Whom the kernel hardly ever ends when memory is short, as a service that is to survive.
class Spared {
 public:
  Spared() { set(-900); }
  ~Spared() { set(before_); }
  static int now() {
    int score = 0;
    std::ifstream("/proc/self/oom_score_adj") >> score;
    return score;
  }

 private:
  static void set(int score) { std::ofstream("/proc/self/oom_score_adj") << score; }
  const int before_ = now();
};

TEST_F(BombsTest, NoProgramIsSparedAsItsNodeIs) {
  const Spared here;
  if (Spared::now() != -900)
    GTEST_SKIP() << "needs CAP_SYS_RESOURCE: no other process may lower its OOM score";
  LocalNode spared;
  const std::string box = spared.create();
  const std::string line =
      "(echo -900 > /proc/self/oom_score_adj) 2>/dev/null; cat /proc/self/oom_score_adj; "
      "echo 0 > /proc/self/oom_score_adj && cat /proc/self/oom_score_adj";
  EXPECT_EQ(spared.shell(box, line).out, "500\n0\n");
  const char* control =
      "setpriv --reuid 1000 --clear-groups sh -c "
      "'echo 500 > /proc/self/oom_score_adj && echo -900 > /proc/self/oom_score_adj'";
  EXPECT_EQ(system(control), 0) << "the control";
}

TEST_F(BombsTest, ProcessesAreCounted) {
  std::string bomb = node().create();
  ExecResult result = node().python(
      bomb,
      "import os, time\nn = 0\ntry:\n while n < 1000:\n  if os.fork() == 0: time.sleep(60)\n  n += "
      "1\n"
      "except OSError as e: print('stopped', n <= 128)\nos.system('') if False else None\n");
  EXPECT_EQ(result.out, "stopped True\n");
  run(node().provider().kill(bomb));
}

TEST_F(BombsTest, WithoutRoomForAProcessTheLimitIsTheSandboxsOwn) {
  const std::string bomb = node().create();
  Command fill{.argv = {"/usr/bin/python3", "-c",
                        "import os, time\ntry:\n while True:\n  if os.fork() == 0: time.sleep(60)\n"
                        "except OSError: print('full', flush=True)\ntime.sleep(60)"}};
  fill.process_id = "fill";
  const auto running = run(node().provider().exec(bomb, std::move(fill)));
  run(running->next());
  EXPECT_EQ(code_of([&] { node().shell(bomb, "true"); }), ErrorCode::quota_exceeded);
  EXPECT_EQ(code_of([&] { run(node().provider().stat(bomb, ".")); }), ErrorCode::quota_exceeded);
  run(node().provider().kill(bomb));
}

TEST_F(BombsTest, MemoryIsBounded) {
  std::string bomb = node().create();
  ExecResult result = node().python(bomb, "x = bytearray(1 << 30)\nprint(len(x))");
  EXPECT_NE(result.exit_code, 0);
  EXPECT_EQ(node().shell(bomb, "echo alive").out, "alive\n");
  // /dev/shm counts as memory and is bounded on its own.
  EXPECT_EQ(node()
                .shell(bomb,
                       "dd if=/dev/zero of=/dev/shm/x bs=1M count=80 2>&1 | "
                       "grep -c 'No space'")
                .out,
            "1\n");
  run(node().provider().kill(bomb));
}

TEST_F(BombsTest, ProcessorTimeIsRationed) {
  CreateSpec spec = node().spec();
  spec.resources.milli_vcpu = 250;
  std::string bomb = node().create(spec);
  auto start = std::chrono::steady_clock::now();
  node().python(bomb, "import time\nend = time.time() + 2\nwhile time.time() < end: pass");
  auto elapsed = std::chrono::steady_clock::now() - start;
  int64_t micros = run(node().provider().metrics(bomb)).cpu_micros;
  EXPECT_LT(micros, 0.35 * std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count());
  run(node().provider().kill(bomb));
}

// Both may run all the time and want the same processor, of which each gets its part.
TEST_F(BombsTest, WhereProcessorsAreShortEachGetsItsPart) {
  const auto spinning = [](int64_t milli_vcpu) {
    CreateSpec spec = node().spec();
    spec.resources.milli_vcpu = milli_vcpu;
    const std::string id = node().create(spec);
    Command spin{.argv = {"/usr/bin/python3", "-c",
                          "import os\nos.sched_setaffinity(0, {0})\nwhile True: pass"}};
    spin.process_id = "spin";
    spin.background = true;
    run(node().provider().exec(id, std::move(spin)));
    return id;
  };
  const std::string large = spinning(2000), small = spinning(500), equal = spinning(500);
  const auto used = [](const std::string& id) {
    return static_cast<double>(run(node().provider().metrics(id)).cpu_micros);
  };
  const auto wait_for = [&](double micros, const std::string& id) {
    for (int i = 0; i < 600 && used(id) < micros; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  };
  // Once all of them spin; and long enough for turns of some milliseconds to even out, and for the
  // kernel to have learnt what each group weighs on that processor.
  for (const std::string& id : {large, small, equal}) wait_for(2e5, id);
  const double before[] = {used(large), used(small), used(equal)};
  wait_for(before[0] + 4e6, large);
  const double much = used(large) - before[0], little = used(small) - before[1],
               control = used(equal) - before[2];
  EXPECT_GT(much, 2.5 * little);
  EXPECT_LT(control, 1.7 * little) << "the control";
  EXPECT_GT(control, little / 1.7);
  for (const std::string& one : {large, small, equal}) run(node().provider().kill(one));
}

// Either bomb goes off in a sandbox that has room for it.
TEST_F(BombsTest, DiskBytesAreBounded) {
  CreateSpec roomy = node().spec();
  roomy.resources.disk_gib = 2;
  const std::string bomb = node().create(), control = node().create(roomy);
  const char* fill =
      "dd if=/dev/zero of=~/x bs=8M count=140 2>&1 | "
      "grep -cE 'No space|File too large'";
  EXPECT_EQ(node().shell(bomb, fill).out, "1\n");
  EXPECT_EQ(node().shell(control, fill).out, "0\n");
  EXPECT_EQ(node().shell(bomb, "rm ~/x; echo again > ~/y && cat ~/y").out, "again\n");
  for (const std::string& one : {bomb, control}) run(node().provider().kill(one));
}

TEST_F(BombsTest, InodesAreBounded) {
  CreateSpec roomy = node().spec();
  roomy.resources.disk_gib = 2;
  const std::string bomb = node().create(), control = node().create(roomy);
  EXPECT_EQ(node().shell(bomb, "df --output=itotal / | tail -1 | tr -d ' '").out, "65536\n");
  const char* fill =
      "import os\nos.makedirs('/tmp/i', exist_ok=True)\n"
      "open('/tmp/i/0', 'w').close()\n"
      "try:\n for d in range(1, 70):\n  os.mkdir(f'/tmp/i/d{d}')\n"
      "  for n in range(1000): os.mknod(f'/tmp/i/d{d}/{n}')\n"
      "except OSError as e: print(e.errno)";
  EXPECT_EQ(node().python(bomb, fill).out, "28\n");
  EXPECT_EQ(node().python(control, fill).out, "");
  for (const std::string& one : {bomb, control}) run(node().provider().kill(one));
}

// How many processes of the machine run with ids of this sandbox.
int processes_of(const JournalRecord& record) {
  int count = 0;
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    struct stat status {};
    if (process.path().filename().string().find_first_not_of("0123456789") != std::string::npos)
      continue;
    if (stat(process.path().c_str(), &status) != 0) continue;
    if (status.st_uid >= record.id_base && status.st_uid - record.id_base < 65536) ++count;
  }
  return count;
}

// Twenty trees that left their session, ignore what can be ignored and never have the same pids,
// also while there is no room for another process. Returns once all ignore the signals.
constexpr const char* kForkingTrees =
    "import os, signal, time\nr, w = os.pipe()\n"
    "for n in range(20):\n if os.fork() == 0:\n  os.setsid()\n"
    "  for s in range(1, 32):\n   try: signal.signal(s, signal.SIG_IGN)\n"
    "   except OSError: pass\n"
    "  os.write(w, b'x')\n"
    "  while True:\n   try: pid = os.fork()\n   except OSError: pid = -1\n"
    "   if pid: time.sleep(0.01)\n   if pid > 0: os._exit(0)\n"
    "for n in range(20): os.read(r, 1)\n";

TEST_F(BombsTest, NothingOutlivesTheKill) {
  const std::string bomb = node().create();
  node().python(bomb, kForkingTrees);
  const JournalRecord record = node().record(bomb);
  const auto all_signalled = [&] {
    try {
      node().shell(bomb, "kill -TERM -1; sleep 0.2");
      return true;
    } catch (const Error&) {
      return false;  // the bomb left no room for a process at that moment
    }
  };
  EXPECT_TRUE(eventually(all_signalled));
  // Of twenty; who forks while /proc is read is missed.
  EXPECT_TRUE(eventually([&] { return processes_of(record) >= 10; }))
      << "the control: they outlive every signal that they may";
  const auto start = std::chrono::steady_clock::now();
  run(node().provider().kill(bomb));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_EQ(processes_of(record), 0);
}

}  // namespace
}  // namespace sandgate::test
