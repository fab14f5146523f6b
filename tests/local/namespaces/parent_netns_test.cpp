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

}  // namespace
}  // namespace sandgate::test
