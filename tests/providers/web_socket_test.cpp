#include "providers/transport/web_socket.hpp"

#include <gtest/gtest.h>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>

#include "tests/providers/scripted_server.hpp"
#include "tests/support/live_loop.hpp"

namespace sandgate::test {
namespace {

namespace websocket = boost::beast::websocket;
using ServerSocket = websocket::stream<asio::ip::tcp::socket&>;
using std::chrono::milliseconds;

constexpr milliseconds kSilence(200);

std::unique_ptr<WebSocket> opened(LiveLoop& loop, const ScriptedServer& server,
                                  milliseconds silence = kSilence) {
  WebSocketCall call{.url = server.url() + "/", .silence = silence, .allow_private = true};
  return loop.run(open_web_socket("vendor", std::move(call)));
}

// Whether `talk` about that silence succeeds for one of several. A machine that stalls for half of
// it delays a ping's answer too long; what is wrong for one is wrong for all.
bool succeeds_for_some_silence(const std::function<void(milliseconds)>& talk) {
  for (const milliseconds silence : {kSilence, 5 * kSilence, 15 * kSilence}) {
    try {
      talk(silence);
      return true;
    } catch (const Error&) {
      // It was cut off.
    }
  }
  return false;
}

// Answers pings, and says something when it is asked.
Task<void> answer(asio::ip::tcp::socket& socket) {
  ServerSocket stream(socket);
  co_await stream.async_accept(asio::use_awaitable);
  for (;;) {
    boost::beast::flat_buffer asked;
    co_await stream.async_read(asked, asio::use_awaitable);
    co_await stream.async_write(asked.data(), asio::use_awaitable);
  }
}

Task<void> be_mute(asio::ip::tcp::socket& socket) {
  ServerSocket stream(socket);
  co_await stream.async_accept(asio::use_awaitable);
  co_await sleep_for(std::chrono::seconds(10));
}

TEST(WebSocket, AReaderMayTakeItsTime) {
  EXPECT_TRUE(succeeds_for_some_silence([](milliseconds silence) {
    LiveLoop loop;
    ScriptedServer server(&answer);
    const auto socket = opened(loop, server, silence);
    for (int turn = 0; turn < 2; ++turn) {
      loop.run(socket->write({.bytes = "hi"}));
      EXPECT_EQ(loop.run(socket->read())->bytes, "hi") << turn;
      loop.run(sleep_for(3 * silence));
    }
  }));
}

TEST(WebSocket, APeerThatAnswersPingsMayBeSilent) {
  EXPECT_TRUE(succeeds_for_some_silence([](milliseconds silence) {
    LiveLoop loop;
    ScriptedServer server(&answer);
    const auto socket = opened(loop, server, silence);
    const auto later = [&]() -> Task<void> {
      co_await sleep_for(3 * silence);
      WebSocket::Message message{.bytes = "hi"};
      auto writing = socket->write(std::move(message));
      (void)co_await attempt(std::move(writing));
    };
    asio::co_spawn(loop.executor(), later, asio::detached);
    EXPECT_EQ(loop.run(socket->read())->bytes, "hi");
  }));
}

TEST(WebSocket, APeerThatIsGoneEndsARead) {
  LiveLoop loop;
  ScriptedServer server(&be_mute);
  const auto socket = opened(loop, server);
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = loop.run(attempt(socket->read()));
  ASSERT_TRUE(std::holds_alternative<Error>(outcome));
  EXPECT_EQ(std::get<Error>(outcome).code, ErrorCode::unavailable);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, kSilence / 2);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace sandgate::test
