#include <fcntl.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/local/namespaces/sandbox_fixture.hpp"

namespace sandgate::test {
namespace {

// Negative for a network that uses the table of another.
int table_of_the_machine() {
  int entries = 0;
  std::ifstream("/proc/sys/net/ipv4/tcp_ehash_entries") >> entries;
  return entries;
}

class ParentNetnsTest : public SandboxTest {};

TEST_F(ParentNetnsTest, ASandboxHasATableOfConnectionsOfItsOwn) {
  if (table_of_the_machine() == 0) GTEST_SKIP() << "this kernel has one table for all networks";
  ASSERT_NE(table_of_the_machine(), 1024) << "nothing would be told apart";
  EXPECT_EQ(output("cat /proc/sys/net/ipv4/tcp_ehash_entries"), "1024");
}

ino_t inode_of(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 ? status.st_ino : 0;
}

TEST_F(ParentNetnsTest, NobodyInsideHasRightsOverTheNetwork) {
  const std::string first = "/proc/" + std::to_string(node().record(id()).pid) + "/ns/";
  const Fd network(open((first + "net").c_str(), O_RDONLY | O_CLOEXEC));
  const Fd owner(ioctl(network.get(), NS_GET_USERNS));
  const Fd inside(open((first + "user").c_str(), O_RDONLY | O_CLOEXEC));
  const Fd ours(open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(owner && inside && ours);
  EXPECT_EQ(inode_of(owner.get()), inode_of(ours.get()));
  EXPECT_NE(inode_of(owner.get()), inode_of(inside.get()));
}

TEST_F(ParentNetnsTest, EveryAccountMayUseAllPorts) {
  const char* listen =
      "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 80))\ns.listen()\n"
      "socket.create_connection(('127.0.0.1', 80))\nprint('connected')";
  for (const char* user : {"", "root"}) EXPECT_EQ(python(listen, user).out, "connected\n") << user;
}

}  // namespace
}  // namespace sandgate::test
