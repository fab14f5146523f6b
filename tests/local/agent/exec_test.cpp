#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "gateway/core/settle.hpp"
#include "tests/local/agent/agent_fixture.hpp"

namespace sandgate::test {
namespace {

using ExecTest = AgentTest;

TEST_F(ExecTest, KeepsEveryByteAndTheOrder) {
  const Outcome all = exec(
      "i=0; while [ $i -lt 256 ]; do printf \"\\\\$(printf %03o $i)\"; "
      "i=$((i+1)); done; echo oops >&2; exit 3");
  std::string expected;
  for (int i = 0; i < 256; ++i) expected += static_cast<char>(i);
  EXPECT_EQ(all.out, expected);
  EXPECT_EQ(all.err, "oops\n");
  EXPECT_EQ(all.exit.exit_code, 3);
  EXPECT_EQ(all.offset, 261u);
}

TEST_F(ExecTest, StreamsMegabytesUnchanged) {
  const Outcome all = exec("seq 1 2000000");
  EXPECT_EQ(all.out.size(), 14888896u);
  EXPECT_TRUE(all.out.ends_with("1999999\n2000000\n"));
}

TEST_F(ExecTest, SaysWhatCannotRun) {
  Command missing;
  missing.argv = {"no-such-program-here"};
  const Outcome not_found = exec(missing);
  EXPECT_EQ(not_found.exit.exit_code, 127);
  EXPECT_NE(not_found.err.find("no-such-program-here"), std::string::npos);
  Command plain;
  plain.argv = {"/etc/passwd"};
  EXPECT_EQ(exec(plain).exit.exit_code, 126);
}

// Longer than a pipe or a terminal holds.
TEST_F(ExecTest, SaysWhatCannotRunHoweverLongItsName) {
  Command missing;
  missing.argv = {std::string(100'000, 'x')};
  const Outcome told = exec(missing);
  EXPECT_EQ(told.exit.exit_code, 126);
  EXPECT_TRUE(told.err.starts_with("xxx"));
  EXPECT_TRUE(told.err.ends_with("x: File name too long\n"));
  missing.pty = PtySize{80, 24};
  EXPECT_EQ(exec(missing).exit.exit_code, 126);
}

TEST_F(ExecTest, ProgramsHaveNoneOfTheAgentsAdvantages) {
  rlimit ours{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &ours), 0);
  rlimit agents{};
  ASSERT_EQ(::prlimit(agent_pid(), RLIMIT_NOFILE, nullptr, &agents), 0);
  EXPECT_EQ(agents.rlim_cur, ours.rlim_max);
  EXPECT_EQ(exec("ulimit -n").out, std::to_string(ours.rlim_cur) + "\n");
  EXPECT_EQ(exec("cat /proc/self/oom_score_adj").out, "500\n");
  std::ifstream score("/proc/" + std::to_string(agent_pid()) + "/oom_score_adj");
  int agents_score = 0;
  ASSERT_TRUE(score >> agents_score);
  EXPECT_LT(agents_score, 500);
}

TEST_F(ExecTest, NamesTheSignalThatEndedIt) {
  const Outcome ended = exec("kill -TERM $$");
  EXPECT_EQ(ended.exit.exit_code, 128 + SIGTERM);
  EXPECT_EQ(ended.exit.signal, "SIGTERM");
  EXPECT_FALSE(ended.exit.timed_out);
}

TEST_F(ExecTest, TimeoutKillsTheWholeGroup) {
  Command command = shell("sleep 60 & echo $!; sleep 60");
  command.timeout = std::chrono::milliseconds(1000);
  const Outcome ended = exec(command);
  EXPECT_TRUE(ended.exit.timed_out);
  EXPECT_EQ(ended.exit.exit_code, 124);
  EXPECT_GE(ended.exit.duration.count(), 990);
  EXPECT_LT(ended.exit.duration.count(), 30'000);
  const pid_t child = std::stoi(ended.out);
  EXPECT_TRUE(eventually([&] { return ::kill(child, 0) != 0; }));
}

// The kernel takes a while to end one with much memory, and none of them holds the output.
TEST_F(ExecTest, ATimeLimitIsToldWhenItsGroupIsGone) {
  Command command = shell(
      "echo $$; (head -c 200000000 /dev/zero; sleep 100) 2> /dev/null |"
      " tail -c 300000000 > /dev/null 2>&1 & wait");
  command.timeout = std::chrono::milliseconds(1500);
  const Outcome ended = exec(command);
  ASSERT_TRUE(ended.exit.timed_out);
  EXPECT_EQ(::kill(-std::stoi(ended.out), 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(ExecTest, FeedsInputAndItsEnd) {
  const std::string text = go([&]() -> Task<std::string> {
    auto stream = co_await client_.exec(shell("cat; echo done"));
    const std::string big(1'000'000, 'x');
    asio::co_spawn(
        co_await asio::this_coro::executor,
        [&stream, &big]() -> Task<void> {
          co_await stream->write_stdin(big);
          co_await stream->close_stdin();
        },
        asio::detached);
    const Outcome all = co_await collect(*stream);
    co_return all.out;
  });
  EXPECT_EQ(text, std::string(1'000'000, 'x') + "done\n");
}

TEST_F(ExecTest, MergesTheEnvironment) {
  start({"A=sandbox", "B=sandbox"});
  Command command = shell("echo $A-$B-$USER-$LOGNAME-$HOME-$LANG; echo $PATH; pwd; umask");
  command.env = {{"B", "command"}};
  const Outcome all = exec(command);
  EXPECT_EQ(all.out, "sandbox-command-sandgate-tester-sandgate-tester-" + home() +
                         "-C.UTF-8\n/usr/local/bin:/usr/bin:/bin\n" + home() + "\n0022\n");
  Command environment;
  environment.argv = {"env"};
  EXPECT_EQ(exec(environment).out.find("SANDGATE_TEST"), std::string::npos);
}

TEST_F(ExecTest, TheLargestEnvironmentReachesItsProgram) {
  Command environment;
  environment.argv = {"env"};
  const std::string most((128 << 10) - std::string("BIG=").size() - 1, 'v');
  environment.env = {{"BIG", most}};
  const Outcome all = exec(environment);
  EXPECT_EQ(all.exit.exit_code, 0) << all.err;
  EXPECT_NE(all.out.find("BIG=" + most + "\n"), std::string::npos);
  environment.process_id = "refused";
  environment.env = {{"BIG", most + "v"}};
  EXPECT_EQ(go([&] { return refusal(client_.exec(environment)); }), "invalid /env/BIG");
}

TEST_F(ExecTest, ASeatIsTakenOnce) {
  start({"seat", "BEFORE=1"});
  const AgentConfiguration configuration{.env = {{"GIVEN", "later"}}};
  go([&] { return client_.configure(configuration); });
  EXPECT_EQ(exec("echo $GIVEN$BEFORE").out, "later\n");
  const auto again = [&] { return refusal(client_.configure(configuration)); };
  EXPECT_EQ(go(again), "conflict");
}

TEST_F(ExecTest, AnOwnedSandboxCannotBeConfigured) {
  const AgentConfiguration configuration{.env = {{"GIVEN", "later"}}};
  const auto task = [&] { return refusal(client_.configure(configuration)); };
  EXPECT_EQ(go(task), "conflict");
}

TEST_F(ExecTest, RefusesAWrongDirectoryBeforeAnythingRuns) {
  ::mkdir((home() + "/locked").c_str(), 0000);
  exec("touch file; mkdir gone; ln -s /proc/self/fd/3 fd; ln -s /proc/1/root root");
  for (const char* cwd : {"/missing", "file", "fd", "root", "/proc/self/fd/3", "/proc/self/fd/7"}) {
    Command command = shell("touch " + home() + "/ran");
    command.cwd = cwd;
    const auto task = [&] { return refusal(client_.exec(command)); };
    EXPECT_EQ(go(task), "invalid /cwd") << cwd;
  }
  EXPECT_NE(::access((home() + "/ran").c_str(), F_OK), 0);
  Command command = shell("pwd");
  command.cwd = "gone";
  EXPECT_EQ(exec(command).out, home() + "/gone\n");
}

TEST_F(ExecTest, ChildrenHaveStandardDescriptorsOnly) {
  EXPECT_EQ(exec("ls /proc/$$/fd | tr '\\n' ' '").out.substr(0, 6), "0 1 2 ");
  Command list;
  list.argv = {"ls", "/proc/self/fd"};
  EXPECT_EQ(exec(list).out, "0\n1\n2\n3\n");  // 3: what ls itself opened
}

TEST_F(ExecTest, AClosedStreamKillsTheGroupUnlessKept) {
  const auto abandon = [&](bool keep) {
    return go([&]() -> Task<std::string> {
      Command command = shell("echo $$; exec sleep 30");
      command.keep_on_disconnect = keep;
      auto stream = co_await client_.exec(command);
      auto event = co_await stream->next();
      co_return std::get<OutputChunk>(*event).bytes;
    });
  };
  const pid_t killed = std::stoi(abandon(false)), kept = std::stoi(abandon(true));
  EXPECT_TRUE(eventually([&] { return ::kill(killed, 0) != 0; }));
  EXPECT_EQ(::kill(kept, 0), 0);
}

TEST_F(ExecTest, ADaemonThatHoldsThePipesDelaysTheExitOnlyBriefly) {
  const Outcome all = exec("sleep 20 & echo started");
  EXPECT_EQ(all.out, "started\n");
  EXPECT_LT(all.exit.duration.count(), 10'000);
}

TEST_F(ExecTest, CollectsOrphans) {
  exec("for i in 1 2 3 4 5 6 7 8; do (setsid sh -c 'sleep 0.05' >/dev/null 2>&1 &); done");
  EXPECT_TRUE(eventually([&] {
    const std::string path = "/proc/" + std::to_string(agent_pid()) + "/task/" +
                             std::to_string(agent_pid()) + "/children";
    std::FILE* file = std::fopen(path.c_str(), "r");
    const bool none = file && std::fgetc(file) == EOF;
    if (file) std::fclose(file);
    return none;
  }));
}

TEST_F(ExecTest, StopsReadingWhenNobodyTakesTheOutput) {
  go([&]() -> Task<void> {
    auto stream = co_await client_.exec(shell("echo first; exec yes"));
    co_await stream->next();
    // On a busy machine it takes a while until all buffers are full.
    long grown = 0;
    for (int tries = 0; tries == 0 || (grown >= 512 && tries < 10); ++tries) {
      const long before = agent_memory_kib();
      co_await sleep_for(std::chrono::milliseconds(500));
      grown = agent_memory_kib() - before;
    }
    EXPECT_LT(grown, 512);
    EXPECT_LT(agent_memory_kib(), kMaxMemoryKib);
    for (int i = 0; i < 100; ++i) co_await stream->next();
  });
}

// Writes a byte to each channel in turn, once the last one was read, and tells when it is through
// or is not read any more.
constexpr const char* kTinyPieces = R"(exec python3 -c '
import fcntl, os, struct, termios, time
def unread(file):
  return struct.unpack("i", fcntl.ioctl(file, termios.FIONREAD, b"\0" * 4))[0]
for i in range(30000):
  os.write(1 + i % 2, b"x")
  last = time.monotonic()
  while unread(1 + i % 2):
    if time.monotonic() - last > 0.5: open("waits", "w").close()
    os.sched_yield()
open("waits", "w").close()')";

TEST_F(ExecTest, ASlowReaderGetsTheSmallestPiecesToo) {
  auto stream = go([&] { return client_.exec(shell(kTinyPieces)); });
  ASSERT_TRUE(eventually([&] { return ::access((home() + "/waits").c_str(), F_OK) == 0; },
                         std::chrono::seconds(60)));
  const Outcome all = go([&] { return collect(*stream); });
  EXPECT_EQ(all.out.size(), 15'000u);
  EXPECT_EQ(all.err.size(), 15'000u);
}

TEST_F(ExecTest, RefusesATakenIdAndTooMuch) {
  Command living = shell("sleep 100");
  living.process_id = "twin";
  const auto stream = go([&] { return client_.exec(living); });
  EXPECT_EQ(go([&] { return refusal(client_.exec(living)); }), "conflict");
  Command big;
  big.process_id = "big";
  big.argv = {"true", std::string(200'000, 'x')};
  EXPECT_TRUE(go([&] { return refusal(client_.exec(big)); }).starts_with("invalid"));
}

TEST_F(ExecTest, AMissingAgentIsNotFound) {
  const AgentClient nobody(directory_.path() + "/nobody.sock");
  EXPECT_EQ(go([&] { return refusal(nobody.processes()); }), "not_found");
  EXPECT_EQ(go([&] { return refusal(client_.processes()); }), "none");
}

TEST_F(ExecTest, DialsLongPaths) {
  const std::string far = directory_.path() + "/" + std::string(120, 'd');
  ::mkdir(far.c_str(), 0755);
  ASSERT_EQ(::link(socket_path().c_str(), (far + "/s").c_str()), 0);
  const AgentClient client(far + "/s");
  EXPECT_EQ(go([&] { return refusal(client.processes()); }), "none");
}

TEST_F(ExecTest, ACancelledWaitLeavesTheStreamUsable) {
  go([&]() -> Task<void> {
    auto stream = co_await client_.exec(shell("read line; echo late"));
    const auto nothing = co_await with_timeout(std::chrono::milliseconds(50), stream->next());
    EXPECT_FALSE(nothing.has_value());
    const std::string line("\n");
    co_await stream->write_stdin(line);
    const Outcome all = co_await collect(*stream);
    EXPECT_EQ(all.out, "late\n");
  });
}

}  // namespace
}  // namespace sandgate::test
