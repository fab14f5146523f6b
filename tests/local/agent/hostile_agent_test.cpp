#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <filesystem>

#include "local/agent/client/client.hpp"
#include "local/agent/protocol.hpp"
#include "tests/local/agent/agent_fixture.hpp"

namespace sandgate::test {
namespace {

using agent::frame;
using agent::FrameType;

// An agent that says whatever a test wants it to.
class HostileAgentTest : public ::testing::Test {
 protected:
  // What the client makes of an agent with this answer.
  template <class F>
  std::string ask(std::string answer, F use) {
    return run([](std::string path, std::string bytes, F work) -> Task<std::string> {
      const auto executor = co_await asio::this_coro::executor;
      asio::local::stream_protocol::acceptor acceptor(executor, path);
      asio::co_spawn(
          executor,
          [&acceptor, &bytes]() -> Task<void> {
            auto socket = co_await acceptor.async_accept(asio::use_awaitable);
            std::vector<char> request(4096);
            co_await socket.async_read_some(asio::buffer(request), asio::use_awaitable);
            co_await asio::async_write(socket, asio::buffer(bytes), asio::use_awaitable);
          },
          asio::detached);
      co_return co_await work(AgentClient(path));
    }(directory_.path() + "/" + std::to_string(++calls_), std::move(answer), use));
  }
  std::string ask_exec(std::string frames) {
    const std::string started = frame(FrameType::reply, R"({"offset":0})");
    return ask(started + frames, [](AgentClient client) -> Task<std::string> {
      Command command;
      command.argv = {"true"};
      auto stream = co_await client.exec(command);
      co_return co_await refusal([](ProcessStream& from) -> Task<void> {
        while (co_await from.next()) continue;
      }(*stream));
    });
  }
  std::string ask_stat(std::string frames) {
    return ask(frames, [](AgentClient client) { return refusal(client.stat("x")); });
  }

  TempDirectory directory_;
  int calls_ = 0;
};

TEST_F(HostileAgentTest, OnlyItsOwnCodesCount) {
  const auto error = [](std::string code) {
    return frame(FrameType::error, R"({"code":")" + code + R"(","message":"m","path":"/p"})");
  };
  EXPECT_EQ(ask_stat(error("not_found")), "not_found");
  EXPECT_EQ(ask_stat(error("invalid")), "invalid /p");
  EXPECT_EQ(ask_stat(error("unauthenticated")), "unavailable");
  EXPECT_EQ(ask_stat(error("nonsense")), "unavailable");
  EXPECT_EQ(ask_stat(frame(FrameType::error, "{")), "unavailable");
}

TEST_F(HostileAgentTest, MalformedAnswersAreUnavailable) {
  EXPECT_EQ(ask_stat(""), "unavailable");
  EXPECT_EQ(ask_stat("garbage garbage"), "unavailable");
  EXPECT_EQ(ask_stat(frame(FrameType::reply, "[1")), "unavailable");
  EXPECT_EQ(ask_stat(frame(FrameType::reply, "{}")), "unavailable");
  EXPECT_EQ(ask_stat(frame(FrameType::bytes, "{}")), "unavailable");
  EXPECT_EQ(ask_stat(frame(FrameType::reply, std::string(60'000, '['))), "unavailable");
}

TEST_F(HostileAgentTest, AListIsBoundedByItsBytes) {
  const std::string entry =
      R"({"type":"file","size":0,"mode":0,"modified_at":0,"name":"n","path":")" +
      std::string(15'000, 'p') + "\"}";
  const std::string piece = frame(FrameType::items, "[" + entry + "," + entry + "]");
  const auto ask_list = [&](int pieces) {
    std::string frames = frame(FrameType::reply, "{}");
    for (int i = 0; i < pieces; ++i) frames += piece;
    return ask(frames + frame(FrameType::end, ""),
               [](AgentClient client) { return refusal(client.list_files("x", 1)); });
  };
  EXPECT_EQ(ask_list(1000), "none");
  EXPECT_EQ(ask_list(1200), "too_large");
}

TEST_F(HostileAgentTest, SignsThatWorkGoesOnAreBounded) {
  const auto ask_list = [&](int signs, std::string end) {
    std::string frames;
    for (int i = 0; i < signs; ++i) frames += frame(FrameType::bytes, "");
    return ask(frames + end, [](AgentClient client) { return refusal(client.list_files("x", 1)); });
  };
  const std::string empty_list = frame(FrameType::reply, "{}") + frame(FrameType::end, "");
  EXPECT_EQ(ask_list(60, empty_list), "none");
  EXPECT_EQ(ask_list(60, frame(FrameType::bytes, "x")), "unavailable");
  EXPECT_EQ(ask_list(1001, empty_list), "timeout");
  EXPECT_EQ(ask_stat(frame(FrameType::bytes, "") + frame(FrameType::reply, "{}")), "unavailable");
}

// An agent that sends its answer with two descriptors.
Task<void> send_two(asio::local::stream_protocol::acceptor& acceptor) {
  auto socket = co_await acceptor.async_accept(asio::use_awaitable);
  std::vector<char> request(4096);
  co_await socket.async_read_some(asio::buffer(request), asio::use_awaitable);
  std::string answer = frame(FrameType::reply, "{}");
  const std::array<int, 2> both{0, 0};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof both)> control{};
  iovec part{answer.data(), answer.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof both);
  std::memcpy(CMSG_DATA(head), both.data(), sizeof both);
  EXPECT_GT(::sendmsg(socket.native_handle(), &message, MSG_NOSIGNAL), 0);
}

TEST_F(HostileAgentTest, DescriptorsThatNobodyAskedForAreClosed) {
  const auto count = [] {
    const auto all = std::filesystem::directory_iterator("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  run(sleep_for(std::chrono::milliseconds(0)));  // the loop has descriptors of its own
  const auto before = count();
  const std::string path = directory_.path() + "/two";
  const std::string code = run([](std::string at) -> Task<std::string> {
    const auto executor = co_await asio::this_coro::executor;
    asio::local::stream_protocol::acceptor acceptor(executor, at);
    // Once for each address of loopback.
    for (int i = 0; i < 2; ++i) asio::co_spawn(executor, send_two(acceptor), asio::detached);
    const AgentClient client(at);
    auto dialling = client.dial(80);
    co_return co_await refusal(std::move(dialling));
  }(path));
  EXPECT_EQ(code, "unavailable");
  EXPECT_EQ(count(), before);
}

TEST_F(HostileAgentTest, ProcessEventsAreChecked) {
  const std::string exit = R"({"exit_code":0,"signal":"","timed_out":false,"duration_ms":1})";
  EXPECT_EQ(ask_exec(frame(FrameType::exit, exit)), "none");
  EXPECT_EQ(ask_exec(""), "unavailable");
  EXPECT_EQ(ask_exec(frame(FrameType::exit, "{}")), "unavailable");
  EXPECT_EQ(ask_exec(frame(FrameType::output, "x")), "unavailable");
  EXPECT_EQ(ask_exec(frame(FrameType::output, std::string(9, static_cast<char>(7)) + "x")),
            "unavailable");
  EXPECT_EQ(ask_exec(frame(FrameType::bytes, "x")), "unavailable");
  char prefix[agent::kOutputPrefix];
  agent::put_output_prefix(prefix, 1, 1);
  const std::string one = frame(FrameType::output, std::string(prefix, sizeof prefix) + "x");
  EXPECT_EQ(ask_exec(one + one), "unavailable");
  EXPECT_EQ(ask_exec(one + frame(FrameType::exit, exit)), "none");
}

}  // namespace
}  // namespace sandgate::test
