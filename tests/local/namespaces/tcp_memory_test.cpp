// What connections of a sandbox hold, where control groups do not count it as memory.
#include <unistd.h>

#include <fstream>

#include "gateway/core/files.hpp"
#include "gateway/core/ids.hpp"
#include "local/namespaces/cgroup.hpp"
#include "local/namespaces/socket_memory.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

constexpr const char* kPeak = "memory.kmem.tcp.max_usage_in_bytes";

class TcpMemoryTest : public SandboxTest {
 protected:
  static int64_t peak_mib(const std::string& id) {
    for (const std::string& directory : node().record(id).cgroups)
      if (!read_cgroup_file(directory, kPeak).empty())
        return read_cgroup_number(directory, kPeak) >> 20;
    return -1;
  }
  // So many programs that open so many connections each, and fill them.
  static std::string hoard(int programs, int connections) {
    return "import os, socket, time\n"
           "def fill():\n"
           "  l = socket.socket(); l.bind(('127.0.0.1', 0)); l.listen(64)\n"
           "  kept = []\n"
           "  for i in range(" +
           std::to_string(connections) +
           "):\n"
           "    a = socket.socket(); a.connect(l.getsockname()); b = l.accept()[0]\n"
           "    for s in (a, b):\n"
           "      s.setblocking(False)\n"
           "      try:\n"
           "        while True: s.send(bytes(65536))\n"
           "      except OSError: pass\n"
           "    kept += [a, b]\n"
           "  time.sleep(3)\n"
           "  os._exit(0)\n"
           "for i in range(" +
           std::to_string(programs) +
           "):\n"
           "  if os.fork() == 0: fill()\n"
           "ended = [os.wait()[1] for i in range(" +
           std::to_string(programs) + ")]\nprint('all', not any(ended))\n";
  }
};

// A quarter of 256 MiB is what it may hold, and 32 beside it; 14400 connections would have 400.
// What they come to have until the node has looked depends on the machine.
TEST_F(TcpMemoryTest, ManyConnectionsHoldNoMoreThanFew) {
  const std::string bomb = node().create();
  if (peak_mib(bomb) < 0) GTEST_SKIP() << "this machine counts it as memory of the group";
  node().python(bomb, hoard(30, 480));
  const int64_t peak = peak_mib(bomb);
  RecordProperty("peak_mib", static_cast<int>(peak));
  EXPECT_GT(peak, 60) << "it was no bomb";
  EXPECT_LT(peak, 200);
  EXPECT_EQ(node().shell(bomb, "echo alive").out, "alive\n");
  run(node().provider().kill(bomb));
}

// The control: full buffers of connections by the hundred, beyond the quarter, end nobody.
TEST_F(TcpMemoryTest, WhoStaysWithinItLosesNothing) {
  const std::string busy = node().create();
  if (peak_mib(busy) < 0) GTEST_SKIP() << "this machine counts it as memory of the group";
  EXPECT_EQ(node().python(busy, hoard(4, 200)).out, "all True\n");
  RecordProperty("peak_mib", static_cast<int>(peak_mib(busy)));
  run(node().provider().kill(busy));
}

// As if what TCP holds now were nearly all that it may, on the whole machine.
class ScarceTcpMemory {
 public:
  ScarceTcpMemory() : before_(read_text_file(kPath).value_or("")) {
    const int64_t pages = tcp_memory().held / sysconf(_SC_PAGESIZE);
    std::ofstream(kPath) << 1 << ' ' << pages / 2 << ' ' << pages * 5 / 4;
  }
  ~ScarceTcpMemory() { std::ofstream(kPath) << before_; }
  ScarceTcpMemory(const ScarceTcpMemory&) = delete;

 private:
  static constexpr const char* kPath = "/proc/sys/net/ipv4/tcp_mem";
  const std::string before_;
};

TEST_F(TcpMemoryTest, WhoHoldsMostEndsWholeWhilePaused) {
  const std::string other = node().create(), paused = node().create();
  const int64_t before = tcp_memory().held;
  Command command;
  command.process_id = make_id("pr");
  command.argv = {"/usr/bin/python3", "-c", hoard(1, 400)};
  command.background = true;
  run(node().provider().exec(paused, std::move(command)));
  if (!eventually([&] { return tcp_memory().held - before > 48 << 20; }))
    GTEST_SKIP() << "TCP has less memory on this machine";
  run(node().provider().pause(paused, Keeps::memory));
  const auto is_there = [&](const std::string& id) {
    return std::ranges::any_of(run(node().provider().list()), [&](const BackendSandbox& sandbox) {
      return sandbox.backend_id == id;
    });
  };
  {
    const ScarceTcpMemory scarce;
    EXPECT_TRUE(eventually([&] { return !is_there(paused); }));
  }
  EXPECT_TRUE(is_there(other));
  run(node().provider().kill(other));
}

}  // namespace
}  // namespace sandgate::test
