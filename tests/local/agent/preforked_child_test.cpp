#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "local/agent/processes/spawn_spec_codec.hpp"
#include "tests/local/agent/agent_fixture.hpp"

namespace sandgate::test {
namespace {

// The parent's pid of a process; 0 when it is gone.
pid_t parent_of(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);  // fails for one that is gone meanwhile
  const size_t name_end = text.rfind(')');
  return name_end == std::string::npos ? 0 : std::atoi(text.c_str() + name_end + 4);
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc"))
    if (const pid_t pid = std::atoi(entry.path().filename().c_str()); pid > 0)
      if (parent_of(pid) == parent) found.push_back(pid);
  return found;
}

// Agents of sandboxes that wait for their owners.
class PreforkedChildTest : public AgentTest {
 protected:
  PreforkedChildTest() {
    start({"seat"});
    if (!eventually([this] { return children_of(agent_pid()).size() == 1; }))
      throw std::runtime_error("no child was made in advance");
    child_ = children_of(agent_pid()).front();
  }
  pid_t exec_pid(std::string line = "echo $$") {
    return std::atoi(exec(std::move(line)).out.c_str());
  }

  pid_t child_ = 0;
};

TEST_F(PreforkedChildTest, IsTheFirstProgramAndNoLaterOne) {
  EXPECT_EQ(exec_pid(), child_);
  EXPECT_NE(exec_pid(), child_);
  EXPECT_TRUE(eventually([this] { return children_of(agent_pid()).empty(); }));
}

TEST_F(PreforkedChildTest, DiffersFromLaterProgramsInNothing) {
  const std::string state =
      "id; umask; pwd; env | sort; ulimit -a; ls /proc/self/fd | wc -l; cat "
      "/proc/self/oom_score_adj;"
      " grep -E '^(Sig(Blk|Ign|Cgt)|Cap|NoNewPrivs|Seccomp|Groups|Uid|Gid)' /proc/self/status;"
      " cut -d' ' -f19 /proc/self/stat; test $(cut -d' ' -f6 /proc/$$/stat) = $$ &&"
      " echo leads its session";
  const Outcome first = exec(state), second = exec(state);
  EXPECT_NE(first.out.find("leads its session"), std::string::npos);
  EXPECT_EQ(first.out, second.out);
  EXPECT_EQ(first.err, second.err);
}

// Longer than a pipe holds.
TEST_F(PreforkedChildTest, TakesSpecsOfAnyLength) {
  Command command;
  command.argv = {"/bin/sh", "-c", "echo $$ ${#LONG} $#", std::string(90'000, 'x')};
  for (int i = 0; i < 1000; ++i) command.argv.push_back("word");
  command.env["LONG"] = std::string(100'000, 'y');
  EXPECT_EQ(exec(command).out, std::to_string(child_) + " 100000 1000\n");
}

TEST_F(PreforkedChildTest, RefusesADirectoryAsLaterProgramsDo) {
  const auto refused = [this] {
    return go([this]() -> Task<std::string> {
      Command command = shell("true");
      command.cwd = "/nowhere";
      auto starting = client_.exec(command);
      co_return co_await refusal(std::move(starting));
    });
  };
  EXPECT_EQ(refused(), "invalid /cwd");
  EXPECT_EQ(refused(), "invalid /cwd");
  EXPECT_EQ(exec("echo fine").out, "fine\n");
}

TEST_F(PreforkedChildTest, GivesWayToATerminal) {
  Command command = shell("echo $$; tty");
  command.pty = PtySize{80, 24};
  const Outcome told = exec(command);
  EXPECT_NE(std::atoi(told.out.c_str()), child_);
  EXPECT_NE(told.out.find("/dev/pts/"), std::string::npos) << told.out;
  EXPECT_EQ(parent_of(child_), 0);
}

TEST_F(PreforkedChildTest, IsNotMissedOnceDead) {
  ASSERT_EQ(::kill(child_, SIGKILL), 0);
  ASSERT_TRUE(eventually([this] { return parent_of(child_) == 0; }));
  const Outcome told = exec("echo fine");
  EXPECT_EQ(told.out, "fine\n");
  EXPECT_EQ(told.exit.exit_code, 0);
}

// Nor when it dies at the moment when it is asked.
TEST_F(PreforkedChildTest, ACommandIsNotTakenForItsDeath) {
  for (int round = 0; round < 20; ++round) {
    start({"seat"});
    ASSERT_TRUE(eventually([this] { return children_of(agent_pid()).size() == 1; }));
    ASSERT_EQ(::kill(children_of(agent_pid()).front(), SIGKILL), 0);
    const Outcome told = exec("echo fine");
    EXPECT_EQ(told.out, "fine\n");
    EXPECT_EQ(told.exit.exit_code, 0);
  }
}

// A client that waits for the end of a connection must not wait for the child.
TEST_F(PreforkedChildTest, HoldsNoneOfTheAgentsDescriptors) {
  const std::string fds = "/proc/" + std::to_string(child_) + "/fd";
  const auto all = [&] {
    std::vector<std::string> targets;
    std::error_code closed;  // meanwhile
    for (const auto& entry : std::filesystem::directory_iterator(fds))
      targets.push_back(std::filesystem::read_symlink(entry, closed).string().substr(0, 5));
    return targets;
  };
  // Standard descriptors, report and orders, once the child has put them in their places.
  EXPECT_TRUE(eventually([&] { return all() == std::vector<std::string>(5, "pipe:"); }));
}

TEST_F(PreforkedChildTest, EndsWithTheAgent) {
  ASSERT_EQ(::kill(agent_pid(), SIGKILL), 0);
  EXPECT_TRUE(eventually([this] { return ::kill(child_, 0) != 0; }));
}

TEST(SpawnSpecCodec, KeepsEveryByte) {
  agent::SpawnSpec spec;
  spec.argv = {"program", "", std::string("a\0b", 3), "\xff\xfe"};
  spec.env = {"NAME=value", "EMPTY="};
  spec.cwd = "some/where";
  spec.identity = {"user", 1000, 1001, "/home/user", {4, 27}};
  const std::string packed = agent::encode(spec);
  const agent::SpawnSpec copy = agent::decode(packed);
  EXPECT_EQ(copy.argv, spec.argv);
  EXPECT_EQ(copy.env, spec.env);
  EXPECT_EQ(copy.cwd, spec.cwd);
  EXPECT_EQ(copy.identity.name, "user");
  EXPECT_EQ(copy.identity.uid, 1000u);
  EXPECT_EQ(copy.identity.gid, 1001u);
  EXPECT_EQ(copy.identity.home, "/home/user");
  EXPECT_EQ(copy.identity.groups, spec.identity.groups);
  for (size_t size = 0; size < packed.size(); ++size)
    EXPECT_THROW(agent::decode(packed.substr(0, size)), Error) << size;
  EXPECT_THROW(agent::decode(packed + "x"), Error);
}

}  // namespace
}  // namespace sandgate::test
