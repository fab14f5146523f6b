#include <signal.h>

#include <deque>

#include "gateway/core/json_reader.hpp"
#include "local/agent/protocol.hpp"
#include "tests/local/agent/agent_fixture.hpp"

namespace sandgate::test {
namespace {

using Socket = asio::local::stream_protocol::socket;

constexpr size_t kLasting = 256, kWaiting = 256;
constexpr int kTransfers = 64;

Task<void> nothing() { co_return; }

class ManyClientsTest : public AgentTest {
 protected:
  // Sends a request and reads no answer.
  void ask(const Json& request) {
    asked_.emplace_back(loop_);
    asked_.back().connect(asio::local::stream_protocol::endpoint(socket_path()));
    asio::write(asked_.back(), asio::buffer(agent::request_frames(request.dump())));
  }
  void ask(const std::string& process, const std::string& line) {
    ask({{"protocol", 1}, {"operation", "exec"}, {"process", process}, {"shell", line}});
  }
  void occupy_all() {
    for (size_t i = 0; i < kLasting; ++i) ask("sleep" + std::to_string(i), "exec sleep 1000");
    ASSERT_TRUE(eventually([&] { return processes() == kLasting; }));
  }
  size_t processes() {
    return go([&] { return client_.processes(); }).size();
  }
  size_t late() {
    if (!is_there("late")) return 0;
    FileContent content = go([&] { return client_.read_file("late", {}); });
    return go([&] { return read_all(*content.bytes); }).size() / 2;
  }
  bool is_there(const std::string& file) {
    return go([&] { return refusal(client_.stat(file)); }) == "none";
  }

  asio::io_context loop_;
  std::deque<Socket> asked_;
};

TEST_F(ManyClientsTest, WhoFollowsProgramsIsNotInTheWayOfOtherRequests) {
  occupy_all();
  for (size_t i = 0; i < kWaiting; ++i) ask("late" + std::to_string(i), "echo 1 >> late");
  EXPECT_EQ(go([&] { return refusal(client_.exec(shell("true"))); }), "quota_exceeded");
  EXPECT_EQ(go([&] { return refusal(client_.attach("sleep0", 0)); }), "quota_exceeded");
  go([&] { return client_.make_directory("here"); });
  EXPECT_TRUE(is_there("here"));
  EXPECT_EQ(processes(), kLasting);
  EXPECT_FALSE(is_there("late"));
  go([&] { return client_.signal("sleep0", SIGKILL); });
  EXPECT_TRUE(eventually([&] { return late() == kWaiting; })) << late();
}

// Its process is gone a moment after its answer, which a quota of processor time may make long.
TEST_F(ManyClientsTest, WhatFollowsATransferHasThePlaceThatItHad) {
  const auto refusal_while = [&](Task<void> something) {
    return go([&]() -> Task<std::string> {
      asio::co_spawn(co_await asio::this_coro::executor, std::move(something), asio::detached);
      co_return co_await refusal(client_.stat("."));
    });
  };
  for (int i = 0; i < kTransfers; ++i)
    ask({{"protocol", 1}, {"operation", "write"}, {"path", "upload" + std::to_string(i)}});
  const auto one_ends = [&]() -> Task<void> {
    co_await sleep_for(std::chrono::milliseconds(250));
    asked_.pop_back();
  };
  ASSERT_TRUE(eventually([&] { return refusal_while(nothing()) == "unavailable"; }));
  EXPECT_EQ(refusal_while(one_ends()), "none");
}

TEST_F(ManyClientsTest, WhatWaitsForAPlaceIsForgottenWithItsClient) {
  occupy_all();
  ask("first", "touch first");
  ask("second", "touch second");
  EXPECT_EQ(processes(), kLasting);  // the agent has read what came before this question
  asked_.erase(asked_.end() - 2);
  EXPECT_EQ(processes(), kLasting);
  asked_.pop_front();  // its program ends with it
  EXPECT_TRUE(eventually([&] { return is_there("second"); }));
  EXPECT_FALSE(is_there("first"));
}

// 4 MiB of requests wait at most.
TEST_F(ManyClientsTest, WhatWaitsIsBounded) {
  occupy_all();
  for (int i = 0; i < 50; ++i) ask("late", "true #" + std::string(100'000, 'x'));
  const Command large = shell("true #" + std::string(100'000, 'x'));
  EXPECT_EQ(go([&] { return refusal(client_.exec(large)); }), "quota_exceeded");
}

}  // namespace
}  // namespace sandgate::test
