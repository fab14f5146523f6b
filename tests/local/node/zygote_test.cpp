#include <algorithm>
#include <fstream>
#include <future>
#include <sstream>
#include <vector>

#include "local/namespaces/launch_spec.hpp"
#include "tests/local/node/node_fixture.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

class ZygoteTest : public NodeTest {
 protected:
  std::vector<pid_t> children() {
    const std::string task = "/proc/" + std::to_string(node().pid()) + "/task";
    std::vector<pid_t> found;
    for (const auto& thread : std::filesystem::directory_iterator(task)) {
      std::ifstream list(thread.path() / "children");
      for (pid_t pid = 0; list >> pid;) found.push_back(pid);
    }
    return found;
  }
  // Those that are to become launchers, or of which only their end is left.
  std::vector<pid_t> zygotes() {
    std::vector<pid_t> found = children();
    std::erase_if(found, [](pid_t pid) { return text_of(pid, "comm") != "sandgate-zygote\n"; });
    return found;
  }
  static std::string text_of(pid_t pid, const std::string& name) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
    std::ostringstream text;
    text << file.rdbuf();  // ends where the process does, and does not throw
    return text.str();
  }
  static std::string network_of(pid_t pid) {
    std::error_code gone;
    return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/ns/net", gone);
  }
  // A network that the process holds, is not in, and does not make others from.
  static std::string other_network_of(pid_t pid) {
    std::string found;
    std::error_code gone;
    const std::string place = "/proc/" + std::to_string(pid) + "/fd";
    for (const auto& fd : std::filesystem::directory_iterator(place, gone)) {
      const std::string target = std::filesystem::read_symlink(fd.path(), gone);
      const bool is_parent = fd.path().filename() == std::to_string(kParentNetnsFd);
      if (target.starts_with("net:") && !is_parent && target != network_of(pid)) found = target;
    }
    return found;
  }
  int dead_children() {
    int count = 0;
    for (const pid_t pid : children())
      if (text_of(pid, "stat").find(") Z ") != std::string::npos) ++count;
    return count;
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

TEST_F(ZygoteTest, WhatItDidNotBeginFailsAtOnceAndLeavesNothing) {
  node().create();
  const pid_t killed = only_zygote();
  ASSERT_GT(killed, 0);
  const HostState before = node().host_state();
  ::kill(killed, SIGSTOP);
  auto asked = std::async(std::launch::async, [&] { return code_of([&] { node().create(); }); });
  EXPECT_EQ(asked.wait_for(500ms), std::future_status::timeout) << "it waits to be begun";
  ::kill(killed, SIGKILL);
  ASSERT_EQ(asked.wait_for(5s), std::future_status::ready);
  EXPECT_EQ(asked.get(), ErrorCode::no_capacity);
  EXPECT_TRUE(eventually([&] { return node().host_state().within(before); }));
  node().create();
  EXPECT_NE(only_zygote(), killed);
}

TEST_F(ZygoteTest, CopiesThatAreKilledAreWaitedFor) {
  node().create();
  for (int i = 0; i < 60; ++i) {
    auto asked = std::async(std::launch::async, [&] { code_of([&] { node().create(); }); });
    while (asked.wait_for(1ms) == std::future_status::timeout)
      for (const pid_t one : zygotes()) ::kill(one, SIGKILL);
  }
  node().create();  // whose zygote takes the place of the last that was killed
  EXPECT_TRUE(eventually([&] { return dead_children() == 0; })) << dead_children();
}

TEST_F(ZygoteTest, NoneIsCopiedForGood) {
  node().create();
  const pid_t first = only_zygote();
  ASSERT_GT(first, 0);
  for (int i = 0; i < 64; ++i) run(node().provider().kill(node().create()));
  EXPECT_NE(only_zygote(), first);
}

TEST_F(ZygoteTest, MakesTheNextNetworkAhead) {
  node().create();
  const pid_t zygote = only_zygote();
  ASSERT_GT(zygote, 0);
  std::string made;
  ASSERT_TRUE(eventually([&] { return !(made = other_network_of(zygote)).empty(); }));
  const JournalRecord next = node().record(node().create());
  EXPECT_EQ(network_of(static_cast<pid_t>(next.pid)), made);
  EXPECT_TRUE(eventually([&] {
    const std::string another = other_network_of(zygote);
    return !another.empty() && another != made;
  })) << "each is for one sandbox";
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
