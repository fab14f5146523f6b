// What a process calls itself, to the kernel and in its command line, changes nothing.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/local/node/node_fixture.hpp"

namespace sandgate::test {
namespace {

struct Disguise {
  const char* of;
  std::string comm;
  std::vector<std::string> words;  // the whole command line
};

std::string text_below_proc(int64_t pid, const std::string& path) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/" + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string comm_of(int64_t pid) {
  std::string comm = text_below_proc(pid, "comm");
  if (!comm.empty()) comm.pop_back();
  return comm;
}

Disguise disguise_of(const char* of, int64_t pid) {
  Disguise found{of, comm_of(pid), {}};
  std::istringstream words(text_below_proc(pid, "cmdline"));
  for (std::string word; std::getline(words, word, '\0');) found.words.push_back(word);
  return found;
}

// Becomes what it is told to, forks until it may not and writes down how often, then spins; it and
// its children ignore what can be ignored, and each child has a session of its own.
constexpr const char* kImpostor = R"(
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int count, char** words) {
  if (!getenv("COMM")) {
    setenv("COMM", words[1], 1);
    execv("/proc/self/exe", words + 2);
    return 1;
  }
  prctl(PR_SET_NAME, getenv("COMM"));
  for (int number = 1; number < 32; ++number) signal(number, SIG_IGN);
  FILE* told = fopen("/tmp/forked", "w");
  int forked = 0;
  for (pid_t child; (child = fork()) >= 0; ++forked)
    if (child == 0) {
      setsid();
      for (;;) pause();
    }
  fprintf(told, "%d ", forked);
  fclose(told);
  for (;;) continue;
})";

class ImpostorTest : public NodeTest {
 protected:
  std::string start(const Disguise& disguise) {
    CreateSpec spec = node().spec();
    spec.resources.processes = kLimit;
    const std::string id = node().create(spec);
    static const std::string program = compile_c(kImpostor);
    node().write(id, "/tmp/impostor", program, 0755);
    Command command{.argv = {"/tmp/impostor", disguise.comm}};
    command.argv.insert(command.argv.end(), disguise.words.begin(), disguise.words.end());
    command.process_id = kProcess;
    command.background = true;
    run(node().provider().exec(id, std::move(command)));
    return id;
  }
  // How often it forked before it was refused.
  int forked(const std::string& id) {
    const int64_t first = node().record(id).pid;
    int count = 0;
    EXPECT_TRUE(eventually([&] {
      count = std::atoi(text_below_proc(first, "root/tmp/forked").c_str());
      return count > 0;
    }));
    return count;
  }
  int64_t processes(const std::string& id) { return run(node().provider().metrics(id)).processes; }
  // Of the sandbox and with this name and command line, as the machine sees them.
  int disguised(const std::string& id, const Disguise& disguise) {
    const uint32_t base = node().record(id).id_base;
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const int64_t pid = std::atoll(entry.path().filename().c_str());
      const std::string status = pid > 0 ? text_below_proc(pid, "status") : "";
      const size_t at = status.find("\nUid:\t");
      if (at == std::string::npos) continue;
      const auto uid = static_cast<uint32_t>(std::strtoul(status.c_str() + at + 6, nullptr, 10));
      if (uid < base || uid - base >= 65536) continue;
      const Disguise found = disguise_of("", pid);
      if (found.comm == disguise.comm && found.words == disguise.words) ++count;
    }
    return count;
  }
  bool spins(const std::string& id) {
    const int64_t before = run(node().provider().metrics(id)).cpu_micros;
    return eventually(
        [&] { return run(node().provider().metrics(id)).cpu_micros > before + 50'000; });
  }
  void expect_nothing_spared(const Disguise& disguise);

  static constexpr int kLimit = 64;
  static constexpr const char* kProcess = "impostor";
};

void ImpostorTest::expect_nothing_spared(const Disguise& disguise) {
  SCOPED_TRACE(disguise.of);
  const std::string id = start(disguise);
  const JournalRecord record = node().record(id);
  const int children = forked(id), alike = disguised(id, disguise);
  EXPECT_GE(alike, children + 1) << "the control: it does look like that";
  EXPECT_LT(children, kLimit);
  EXPECT_GE(children, kLimit - 8) << "refused by the limit and by nothing else";
  EXPECT_GE(processes(id), children + 2) << "the first process, it and its children";
  EXPECT_TRUE(spins(id)) << "its time is counted";
  node().kill();
  node().start();
  EXPECT_EQ(node().record(id).pid, record.pid) << "nobody else is taken for the first process";
  EXPECT_GE(processes(id), children + 2);
  run(node().provider().signal(id, kProcess, SIGKILL));
  EXPECT_TRUE(eventually(
      [&] { return run(node().provider().process(id, kProcess)).state == ProcessState::exited; }));
  EXPECT_EQ(disguised(id, disguise), alike - 1) << "its children have sessions of their own";
  run(node().provider().kill(id));
  EXPECT_TRUE(eventually([&] { return node().host_state().processes == 0; }));
}

TEST_F(ImpostorTest, ItIsNeitherSparedNorTrusted) {
  const std::string other = node().create();
  const Disguise agent = disguise_of("the agent", node().record(other).pid);
  const Disguise supervisor = disguise_of("the node", node().pid());
  run(node().provider().kill(other));
  EXPECT_EQ(agent.comm, "sandgate-agent");
  ASSERT_FALSE(agent.words.empty());
  expect_nothing_spared({"nobody", "plain", {"plain"}});
  expect_nothing_spared(agent);
  expect_nothing_spared(supervisor);
  expect_nothing_spared({"another owner", "x\nUid:\t0\t0", {"x\nUid:\t0"}});
}

}  // namespace
}  // namespace sandgate::test
