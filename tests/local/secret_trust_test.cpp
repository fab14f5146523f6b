#include "local/secret_trust.hpp"

#include <gtest/gtest.h>

#include "gateway/core/settle.hpp"
#include "local/agent/protocol.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

using Acceptor = asio::local::stream_protocol::acceptor;

// An agent that gives every call the same answer, and counts them.
Task<void> answer_all(Acceptor& acceptor, std::string answer, int& calls) {
  for (;;) {
    auto socket = co_await acceptor.async_accept(asio::use_awaitable);
    ++calls;
    std::vector<char> request(4096);
    co_await socket.async_read_some(asio::buffer(request), asio::use_awaitable);
    co_await asio::async_write(socket, asio::buffer(answer), asio::use_awaitable);
  }
}

// How many calls an installation makes that are all refused with this code.
Task<int> calls_refused_with(std::string code) {
  const TempDirectory directory;
  const std::string path = directory.path() + "/agent.sock";
  const auto executor = co_await asio::this_coro::executor;
  Acceptor acceptor(executor, path);
  std::string answer =
      agent::frame(agent::FrameType::error, R"({"code":")" + code + R"(","message":"m"})");
  int calls = 0;
  auto installing = install_authority(AgentClient(path), "certificate");
  auto both = with_companion(std::move(installing), answer_all(acceptor, std::move(answer), calls));
  const auto outcome = co_await attempt(std::move(both));
  EXPECT_TRUE(std::holds_alternative<Error>(outcome));
  co_return calls;
}

// Else the sandbox would trust nobody but its own authority from then on.
TEST(SecretTrust, ABundleThatCannotBeReadNowIsNotTakenForNone) {
  EXPECT_EQ(run(calls_refused_with("unavailable")), 1) << "nothing is written";
  EXPECT_EQ(run(calls_refused_with("not_found")), 2) << "the control: an image without one";
}

}  // namespace
}  // namespace sandgate::test
