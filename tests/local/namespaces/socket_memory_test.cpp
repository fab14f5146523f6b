// How much of a machine's memory for sockets one sandbox may hold, and who gives way.
#include "local/namespaces/socket_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

constexpr int64_t kMiB = 1 << 20;

TEST(SocketMemory, IsReadInBytes) {
  const TempDirectory proc;
  std::filesystem::create_directories(proc.path() + "/net");
  std::filesystem::create_directories(proc.path() + "/sys/net/ipv4");
  std::ofstream(proc.path() + "/net/sockstat")
      << "sockets: used 12\nTCP: inuse 1 orphan 0 tw 0 alloc 1 mem 44\nUDP: inuse 0 mem 7\n"
         "UDPLITE: inuse 0\n";
  std::ofstream(proc.path() + "/sys/net/ipv4/tcp_mem") << "30\t40\t60\n";
  const int64_t page = sysconf(_SC_PAGESIZE);
  const SocketMemory tcp = tcp_memory(proc.path());
  EXPECT_EQ(tcp.held, 44 * page);
  EXPECT_EQ(tcp.pressure, 40 * page);
  EXPECT_EQ(tcp.most, 60 * page);
  EXPECT_EQ(udp_memory(proc.path()).held, 7 * page);
  EXPECT_EQ(udp_memory(proc.path()).most, 0);
}

TEST(SocketMemory, IsShortHalfwayBehindThePressure) {
  EXPECT_FALSE((SocketMemory{50, 40, 60}.is_short()));
  EXPECT_TRUE((SocketMemory{51, 40, 60}.is_short()));
  EXPECT_FALSE((SocketMemory{51, 0, 0}.is_short()));  // limits that are not known
}

TEST(SocketMemory, OfASandboxIsAPartOfItsOwnAndOfTheMachines) {
  EXPECT_EQ(socket_share(256, 2200 * kMiB), 64 * kMiB);
  EXPECT_EQ(socket_share(11 * 1024, 2200 * kMiB), 550 * kMiB);
  EXPECT_EQ(socket_share(11 * 1024, 0), 2816 * kMiB);
}

TEST(SocketMemory, WhoHoldsMostGivesWay) {
  EXPECT_EQ(largest_holder({5, 90, 40}, 32), 1U);
  EXPECT_EQ(largest_holder({5, 9, 4}, 32), std::nullopt);
  EXPECT_EQ(largest_holder({}, 32), std::nullopt);
}

}  // namespace
}  // namespace sandgate::test
