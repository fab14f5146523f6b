#include <gtest/gtest.h>

#include "providers/retries.hpp"
#include "providers/transport/curl_client.hpp"
#include "tests/providers/scripted_server.hpp"
#include "tests/support/run.hpp"

// What was never sent had no effect: nobody has to look for one.
namespace sandgate::test {
namespace {

using asio::ip::tcp;

// Whether a call and a stream that both fail say that they were sent.
bool says_sent(const std::string& url, bool allow_private = true) {
  const HttpCall asked{
      .url = url, .deadline = std::chrono::milliseconds(500), .allow_private = allow_private};
  CurlClient client;
  const auto called = run(attempt(client.call(asked)));
  const auto streamed = run(attempt(client.stream(asked)));
  if (!std::holds_alternative<Error>(called) || !std::holds_alternative<Error>(streamed))
    throw std::logic_error("it was answered");
  EXPECT_EQ(was_never_sent(std::get<Error>(called)), was_never_sent(std::get<Error>(streamed)));
  return !was_never_sent(std::get<Error>(called));
}

TEST(NeverSent, IsWhatFoundNoConnection) {
  ScriptedServer hasty([](tcp::socket& socket) -> Task<void> {
    socket.close();
    co_return;
  });
  EXPECT_FALSE(says_sent("http://127.0.0.1:1"));
  EXPECT_FALSE(says_sent("http://no-such-name.invalid"));
  EXPECT_FALSE(says_sent("https" + hasty.url().substr(4))) << "no certificate";
  EXPECT_FALSE(says_sent(hasty.url(), /*allow_private=*/false));
}

TEST(NeverSent, IsNotWhatWasHeard) {
  ScriptedServer rude([](tcp::socket& socket) -> Task<void> {
    co_await ScriptedServer::head(socket);
    socket.close();
  });
  ScriptedServer slow([](tcp::socket& socket) -> Task<void> {
    co_await ScriptedServer::head(socket);
    co_await sleep_for(std::chrono::seconds(2));
  });
  EXPECT_TRUE(says_sent(rude.url()));
  EXPECT_TRUE(says_sent(slow.url()));
}

TEST(NeverSent, IsNotTheCreateWhoseSandboxIsAskedFor) {
  const auto asked = []() -> Task<int> {
    throw never_sent(Error(ErrorCode::unavailable, "no connection"));
    co_return 0;
  };
  const auto outcome = run(attempt(retry_until_answered(asked)));
  ASSERT_TRUE(std::holds_alternative<Error>(outcome));
  EXPECT_FALSE(was_never_sent(std::get<Error>(outcome)));
}

}  // namespace
}  // namespace sandgate::test
