#include "tests/local/agent/agent_fixture.hpp"

namespace sandgate::test {
namespace {

using IdentityTest = AgentTest;

constexpr const char* kStatus = "grep -E '^(Cap|NoNewPrivs)' /proc/self/status | tr -d '\\n\\t '";

TEST_F(IdentityTest, WorkloadsHaveNoCapabilities) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  EXPECT_EQ(exec("id -u; id -G").out, "1000\n1000\n");
  const std::string none = "0000000000000000";
  EXPECT_EQ(exec(kStatus).out, "CapInh:" + none + "CapPrm:" + none + "CapEff:" + none +
                                   "CapBnd:" + none + "CapAmb:" + none + "NoNewPrivs:1");
  EXPECT_EQ(exec("ulimit -c; ps -o sid= -p $$ | tr -d ' ' > s; [ $(cat s) = $$ ] && echo own").out,
            "0\nown\n");
}

TEST_F(IdentityTest, TheAgentCannotBeReachedFromInside) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  const std::string agent = std::to_string(agent_pid());
  EXPECT_NE(exec("kill -9 " + agent).exit.exit_code, 0);
  EXPECT_NE(exec("cat /proc/" + agent + "/environ").exit.exit_code, 0);
  EXPECT_EQ(go([&] { return refusal(client_.processes()); }), "none");
}

TEST_F(IdentityTest, RootNeedsAPermissionAndStaysReduced) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  Command command = shell("id -u");
  command.user = "root";
  EXPECT_EQ(go([&] { return refusal(client_.exec(command)); }), "forbidden");
  command.user = "0";
  EXPECT_EQ(go([&] { return refusal(client_.exec(command)); }), "forbidden");
  start({"root"});
  command.shell = kStatus;
  const std::string few = "00000000000004fb", none = "0000000000000000";
  EXPECT_EQ(exec(command).out, "CapInh:" + none + "CapPrm:" + few + "CapEff:" + few +
                                   "CapBnd:" + few + "CapAmb:" + none + "NoNewPrivs:1");
}

TEST_F(IdentityTest, UnknownUsersAreRefused) {
  for (const char* user : {"nobody-like-this", "0\n0", "root:", "4242424242"}) {
    Command command = shell("true");
    command.user = user;
    EXPECT_EQ(go([&] { return refusal(client_.exec(command)); }), "invalid /user") << user;
  }
}

}  // namespace
}  // namespace sandgate::test
