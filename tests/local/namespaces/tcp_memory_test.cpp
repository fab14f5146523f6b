// What connections of a sandbox hold, where control groups do not count it as memory.
#include "local/namespaces/cgroup.hpp"
#include "tests/local/namespaces/sandbox_fixture.hpp"

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
  EXPECT_EQ(node().python(busy, hoard(4, 200)).out, "all True\n");
  RecordProperty("peak_mib", static_cast<int>(peak_mib(busy)));
  run(node().provider().kill(busy));
}

}  // namespace
}  // namespace sandgate::test
