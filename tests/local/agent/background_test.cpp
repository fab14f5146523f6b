#include <signal.h>
#include <sys/resource.h>

#include <filesystem>

#include "gateway/core/settle.hpp"
#include "local/agent/client/client_connection.hpp"
#include "tests/local/agent/agent_fixture.hpp"

namespace sandgate::test {
namespace {

Task<void> start_only(AgentClient client, Command command) {
  const auto stream = co_await client.exec(std::move(command));
}

class BackgroundTest : public AgentTest {
 protected:
  std::string start_background(std::string line) {
    Command command = shell(std::move(line));
    command.background = true;
    go([&]() -> Task<void> { co_await client_.exec(command); });
    return command.process_id;
  }
  ProcessInfo info(const std::string& id) {
    return go([&] { return client_.process(id); });
  }
  bool exited(const std::string& id) { return info(id).state == ProcessState::exited; }
  Outcome attach(const std::string& id, uint64_t from) {
    return go([&]() -> Task<Outcome> {
      auto stream = co_await client_.attach(id, from);
      co_return co_await collect(*stream);
    });
  }
};

TEST_F(BackgroundTest, RunsOnAndIsReadLater) {
  const std::string id = start_background("echo one; sleep 0.2; echo two >&2; exit 4");
  const Outcome all = attach(id, 0);
  EXPECT_EQ(all.out, "one\n");
  EXPECT_EQ(all.err, "two\n");
  EXPECT_EQ(all.exit.exit_code, 4);
  EXPECT_EQ(attach(id, 5).err, "wo\n");
  const ProcessInfo ended = info(id);
  EXPECT_EQ(ended.state, ProcessState::exited);
  EXPECT_TRUE(ended.background);
  EXPECT_TRUE(ended.ended_at && *ended.ended_at >= ended.started_at);
  EXPECT_EQ(ended.command.back(), "echo one; sleep 0.2; echo two >&2; exit 4");
}

TEST_F(BackgroundTest, TheIdOfOneThatEndedIsFree) {
  const auto named = [&](std::string line) {
    Command command = shell(std::move(line));
    command.process_id = "pr-named";
    return command;
  };
  const auto start = [&](std::string line) {
    Command command = named(std::move(line));
    command.background = true;
    return go([&]() -> Task<std::string> {
      auto starting = start_only(client_, command);
      co_return co_await refusal(std::move(starting));
    });
  };
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(exec(named("echo " + std::to_string(i))).exit.exit_code, 0);
  EXPECT_EQ(attach("pr-named", 0).out, "199\n");
  EXPECT_EQ(go([&] { return client_.processes(); }).size(), 1u);
  EXPECT_EQ(start("sleep 60"), "none");
  EXPECT_EQ(start("true"), "conflict");
  go([&] { return client_.signal("pr-named", SIGKILL); });
  ASSERT_TRUE(eventually([&] { return exited("pr-named"); }));
  EXPECT_EQ(start("true"), "none");
}

TEST_F(BackgroundTest, KeepsTheNewestMegabyteWithoutAReader) {
  const std::string id = start_background("seq 1 1000000");
  ASSERT_TRUE(eventually([&] { return exited(id); }));
  const Outcome all = attach(id, 0);
  EXPECT_EQ(all.out.size(), 1024u * 1024u);
  EXPECT_TRUE(all.out.ends_with("999999\n1000000\n"));
  EXPECT_EQ(all.offset, 6888896u);
  EXPECT_LT(agent_memory_kib(), kMaxMemoryKib);
}

TEST_F(BackgroundTest, ManyTogetherKeepNoMoreThanTheirShares) {
  constexpr int kCount = 120;
  for (int i = 0; i < kCount; ++i)
    start_background("head -c 1200000 /dev/zero; touch wrote-$$; exec sleep 100");
  const auto wrote = [&] {
    const std::filesystem::directory_iterator files(home());
    return std::distance(begin(files), end(files));
  };
  ASSERT_TRUE(eventually([&] { return wrote() == kCount; }));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(agent_memory_kib(), 64 * 1024);
#endif
}

TEST_F(BackgroundTest, WhatAClientReadsIsNotDroppedForOthers) {
  constexpr size_t kUnread = 500'000;  // more than a socket holds, less than stops the program
  Command slow = shell("head -c " + std::to_string(kUnread) + " /dev/zero");
  auto stream = go([&] { return client_.exec(slow); });
  ASSERT_TRUE(eventually([&] { return exited(slow.process_id); }));
  std::string last;
  for (int i = 0; i < 20; ++i) {
    last = start_background("head -c 2000000 /dev/zero");
    ASSERT_TRUE(eventually([&] { return exited(last); }));
  }
  const Outcome all = go([&]() -> Task<Outcome> {
    auto reading = collect(*stream);
    co_return co_await within(std::chrono::seconds(10), std::move(reading));
  });
  EXPECT_EQ(all.out.size(), kUnread);
  EXPECT_EQ(attach(last, 0).out.size(), 1024u * 1024u);
}

TEST_F(BackgroundTest, ContinuesWithTheByteAskedFor) {
  const std::string id = start_background("printf 0123456789");
  ASSERT_TRUE(eventually([&] { return exited(id); }));
  EXPECT_EQ(attach(id, 4).out, "456789");
  EXPECT_EQ(attach(id, 10).out, "");
  EXPECT_EQ(attach(id, 99).exit.exit_code, 0);
}

TEST_F(BackgroundTest, TakesInputFromOutside) {
  const std::string id = start_background("cat");
  go([&]() -> Task<void> {
    co_await client_.write_stdin(id, "hello ");
    co_await client_.write_stdin(id, std::string(300'000, 'y'));
    co_await client_.close_stdin(id);
  });
  const Outcome all = attach(id, 0);
  EXPECT_EQ(all.out, "hello " + std::string(300'000, 'y'));
  const auto late = [&] { return refusal(client_.write_stdin(id, "more")); };
  EXPECT_EQ(go(late), "conflict");
}

TEST_F(BackgroundTest, InputThatNobodyReadsIsRefused) {
  const std::string id = start_background("exec <&-; echo closed; exec sleep 100");
  go([&]() -> Task<void> {
    const auto stream = co_await client_.attach(id, 0);
    co_await stream->next();
  });
  EXPECT_EQ(go([&] { return refusal(client_.write_stdin(id, "lost")); }), "conflict");
  EXPECT_EQ(go([&] { return refusal(client_.write_stdin(id, "lost")); }), "conflict");
}

TEST_F(BackgroundTest, InputThatWasTakenIsNotRefusedSinceItEndedTheProcess) {
  const auto outcome_of = [&](std::string id, std::string bytes) -> Task<std::string> {
    Json request{{"process", id}};
    auto opening = agent::ClientConnection::open(socket_path(), "write_stdin", std::move(request));
    const auto connection = co_await std::move(opening);
    co_await connection->send_bytes(bytes);
    while ((co_await client_.process(id)).state != ProcessState::exited)
      co_await sleep_for(std::chrono::milliseconds(10));
    co_await connection->send_end();
    co_return co_await refusal(connection->receive_reply());
  };
  const std::string reads_one = "head -n 1 > line";
  EXPECT_EQ(go([&] { return outcome_of(start_background(reads_one), "quit\n"); }), "none");
  EXPECT_EQ(exec("cat line").out, "quit\n");
  const std::string too_much = "quit\n" + std::string(300'000, 'x');
  EXPECT_EQ(go([&] { return outcome_of(start_background(reads_one), too_much); }), "conflict");
}

TEST_F(BackgroundTest, SignalsTheGroup) {
  const std::string id =
      start_background("trap 'exit 9' TERM; echo set; while :; do sleep 0.02; done");
  go([&]() -> Task<void> {
    const auto stream = co_await client_.attach(id, 0);
    co_await stream->next();
    co_await client_.signal(id, SIGTERM);
  });
  const Outcome all = attach(id, 0);
  EXPECT_EQ(all.exit.exit_code, 9);
  EXPECT_EQ(go([&] { return refusal(client_.signal(id, SIGTERM)); }), "conflict");
}

TEST_F(BackgroundTest, UnknownProcessesAreNotFound) {
  EXPECT_EQ(go([&] { return refusal(client_.process("prx")); }), "not_found");
  EXPECT_EQ(go([&] { return refusal(client_.signal("prx", 15)); }), "not_found");
  EXPECT_EQ(go([&] { return refusal(client_.attach("prx", 0)); }), "not_found");
  EXPECT_EQ(go([&] { return refusal(client_.write_stdin("prx", "a")); }), "not_found");
  EXPECT_EQ(go([&] { return refusal(client_.close_stdin("prx")); }), "not_found");
}

TEST_F(BackgroundTest, ListsCommandsThatAreLongAsJson) {
  Command command;
  for (const size_t count : {3500, 4000}) {
    command.process_id = "pr-long-" + std::to_string(count);
    command.argv.assign(count, "\x01");
    command.argv.front() = "true";
    EXPECT_EQ(exec(command).exit.exit_code, 0);
  }
  const auto listed = go([&] { return client_.processes(); });
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed.back().command, command.argv);
}

TEST_F(BackgroundTest, ForgetsTheOldestOfManyEnded) {
  for (int i = 0; i < 140; ++i) exec("true");
  const auto all = go([&] { return client_.processes(); });
  EXPECT_EQ(all.size(), 128u);
}

// The agent has three descriptors for each; a program's own limit is not about those.
TEST_F(BackgroundTest, MoreRunThanOneProgramMayHaveDescriptors) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{64, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  stop();
  start({});
  ::setrlimit(RLIMIT_NOFILE, &before);
  for (int i = 0; i < 40; ++i) start_background("sleep 600");
  EXPECT_EQ(exec("ulimit -n").out, "64\n");
}

TEST_F(BackgroundTest, AKeptForegroundProcessIsResumed) {
  Command command = shell("echo first; sleep 0.3; echo second");
  command.keep_on_disconnect = true;
  const uint64_t offset = go([&]() -> Task<uint64_t> {
    auto stream = co_await client_.exec(command);
    auto event = co_await stream->next();
    co_return std::get<OutputChunk>(*event).end_offset;
  });
  EXPECT_EQ(attach(command.process_id, offset).out, "second\n");
}

}  // namespace
}  // namespace sandgate::test
