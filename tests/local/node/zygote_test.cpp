#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/local/node/node_fixture.hpp"

namespace sandgate::test {
namespace {

class ZygoteTest : public NodeTest {
 protected:
  // Children of the node that are to become launchers, or of which only their end is left.
  std::vector<pid_t> zygotes() {
    const std::string task = "/proc/" + std::to_string(node().pid()) + "/task";
    std::vector<pid_t> found;
    for (const auto& thread : std::filesystem::directory_iterator(task)) {
      std::ifstream children(thread.path() / "children");
      for (pid_t pid = 0; children >> pid;)
        if (text_of(pid, "comm") == "sandgate-zygote\n") found.push_back(pid);
    }
    return found;
  }
  static std::string text_of(pid_t pid, const std::string& name) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  pid_t only_zygote() {
    const std::vector<pid_t> found = zygotes();
    EXPECT_EQ(found.size(), 1u);
    return found.size() == 1 ? found.front() : -1;
  }
};

TEST_F(ZygoteTest, KnowsNothingOfTheNodeAndItsCopiesAreNotTakenForIt) {
  const JournalRecord record = node().record(node().create());
  const pid_t zygote = only_zygote();
  ASSERT_GT(zygote, 0);
  EXPECT_EQ(text_of(zygote, "environ"), "");
  const auto agent = static_cast<pid_t>(record.pid);
  EXPECT_EQ(text_of(agent, "comm"), "sandgate-agent\n");
  EXPECT_EQ(text_of(agent, "cmdline").c_str(), std::string("sandgate-agent"));
}

TEST_F(ZygoteTest, OneThatIsKilledHasASuccessor) {
  node().create();
  const pid_t killed = only_zygote();
  ASSERT_GT(killed, 0);
  ::kill(killed, SIGKILL);
  ASSERT_TRUE(
      eventually([&] { return text_of(killed, "stat").find(") Z ") != std::string::npos; }));
  node().create();
  EXPECT_NE(only_zygote(), killed);
}

TEST_F(ZygoteTest, NoneIsCopiedForGood) {
  node().create();
  const pid_t first = only_zygote();
  ASSERT_GT(first, 0);
  for (int i = 0; i < 64; ++i) run(node().provider().kill(node().create()));
  EXPECT_NE(only_zygote(), first);
}

TEST_F(ZygoteTest, EndsWithItsNode) {
  node().create();
  const pid_t zygote = only_zygote();
  ASSERT_GT(zygote, 0);
  node().kill();
  EXPECT_TRUE(eventually([&] { return text_of(zygote, "comm") != "sandgate-zygote\n"; }));
  node().start();
}

}  // namespace
}  // namespace sandgate::test
