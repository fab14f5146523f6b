#include <gtest/gtest.h>

#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <future>
#include <thread>

#include "gateway/core/settle.hpp"
#include "tests/http/live_server.hpp"

namespace sandgate {
namespace {

namespace websocket = boost::beast::websocket;

using http::BodyMode;
using http::Method;
using http::Permission;
using http::Request;
using http::Response;
using test::eventually;
using test::get;
using test::LiveServer;
using test::RawClient;

std::atomic<int> ended{0};

Task<void> echo_all(http::WebSocket& socket) {
  struct End {
    ~End() { ++ended; }
  } const end;
  while (auto message = co_await socket.read()) {
    if (message->bytes == "fail") throw Error(ErrorCode::not_found, "no such thing");
    if (message->bytes == "sleep") co_await sleep_for(std::chrono::seconds(60));
    co_await socket.write(std::move(*message));
  }
}

// Ends by itself while it reads and the client says nothing.
Task<void> farewell(http::WebSocket& socket) {
  auto reading = with_timeout(std::chrono::milliseconds(5), socket.read());
  co_await std::move(reading);
}

// Reads and writes at once, as what serves a terminal does.
Task<void> both_ways(http::WebSocket& socket) {
  using namespace asio::experimental::awaitable_operators;
  co_await (echo_all(socket) || sleep_for(std::chrono::seconds(60)));
}

// Has no time for what the client says, as a program that does not take its input.
Task<void> busy(http::WebSocket& socket) {
  co_await socket.read();
  co_await sleep_for(std::chrono::milliseconds(1200));
  while (auto message = co_await socket.read()) co_await socket.write(std::move(*message));
}

// Gives up on a message that is larger than what the socket takes, and ends.
Task<void> half_way(http::WebSocket& socket) {
  http::WebSocketMessage message{false, std::string(16 << 20, 'x')};
  auto writing = with_timeout(std::chrono::milliseconds(50), socket.write(std::move(message)));
  co_await std::move(writing);
}

http::Routes socket_table() {
  http::Routes routes;
  const auto add = [&](const char* path, Task<void> (*serve)(http::WebSocket&)) {
    routes.add(
        {Method::get, path, Permission::open, BodyMode::none, [serve](Request&) -> Task<Response> {
           Response response;
           response.body = http::UpgradeBody{serve};
           co_return response;
         }});
  };
  add("/ws", echo_all);
  add("/farewell", farewell);
  add("/half", half_way);
  add("/busy", busy);
  add("/both", both_ways);
  return routes;
}

// A blocking WebSocket client.
struct Client {
  explicit Client(uint16_t port, const std::string& path = "/ws") : stream(loop) {
    stream.next_layer().connect({asio::ip::address_v4::loopback(), port});
    stream.handshake(answer, "x", path);
  }
  // The code of the close frame that comes next; 0 when the connection just broke.
  int closed_with() {
    boost::system::error_code failure;
    boost::beast::flat_buffer buffer;
    while (!failure) stream.read(buffer, failure);
    return failure == websocket::error::closed ? stream.reason().code : 0;
  }
  std::string ask(const std::string& message) {
    stream.binary(true);
    stream.write(asio::buffer(message));
    boost::beast::flat_buffer buffer;
    stream.read(buffer);
    return boost::beast::buffers_to_string(buffer.data());
  }
  asio::io_context loop;
  websocket::stream<asio::ip::tcp::socket> stream;
  websocket::response_type answer;
};

TEST(WebSocket, EchoesMessages) {
  LiveServer server(socket_table());
  Client client(server.port());
  EXPECT_FALSE(client.answer["X-Request-Id"].empty());
  EXPECT_EQ(client.ask("hello"), "hello");
  EXPECT_EQ(client.ask(std::string(1 << 20, 'a')).size(), size_t{1} << 20);
  client.stream.close(websocket::close_code::normal);
  EXPECT_TRUE(eventually([&] { return server.server.connections() == 0; }));
}

TEST(WebSocket, RefusesMessagesThatAreTooLarge) {
  LiveServer server(socket_table());
  Client client(server.port());
  EXPECT_THROW((void)client.ask(std::string((1 << 20) + 1, 'a')), boost::system::system_error);
  EXPECT_TRUE(eventually([&] { return server.server.connections() == 0; }));
}

TEST(WebSocket, TellsAClientThatSendsTooMuchWhy) {
  LiveServer server(socket_table());
  for (const size_t bytes : {(size_t{1} << 20) + 1, size_t{2} << 20, size_t{16} << 20}) {
    Client client(server.port());
    client.stream.binary(true);
    boost::system::error_code failure;
    client.stream.write(asio::buffer(std::string(bytes, 'a')), failure);
    EXPECT_FALSE(failure) << bytes << ": " << failure.message();
    EXPECT_EQ(client.closed_with(), websocket::close_code::too_big) << bytes;
  }
  EXPECT_TRUE(eventually([&] { return server.server.connections() == 0; }));
}

TEST(WebSocket, RefusesFramesOfAbsurdLengthAtTheirHead) {
  LiveServer server(socket_table());
  for (const uint64_t length : {uint64_t{1} << 30, uint64_t{1} << 62, uint64_t{1} << 63}) {
    Client client(server.port());
    std::string head = "\x82\xff";
    for (int shift = 56; shift >= 0; shift -= 8) head.push_back(static_cast<char>(length >> shift));
    asio::write(client.stream.next_layer(), asio::buffer(head + "mask"));
    auto closing = std::async(std::launch::async, [&] { return client.closed_with(); });
    const bool told = closing.wait_for(std::chrono::seconds(5)) == std::future_status::ready;
    EXPECT_TRUE(told) << length;
    if (!told) client.stream.next_layer().shutdown(asio::ip::tcp::socket::shutdown_both);
    EXPECT_EQ(closing.get(), websocket::close_code::too_big) << length;
  }
}

TEST(WebSocket, RefusesTwoKeys) {
  LiveServer server(socket_table());
  RawClient client(server.port());
  const std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const std::string wanted =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" + key;
  EXPECT_EQ(client.ask(get("/ws", wanted + key)).status, 400);
  EXPECT_EQ(RawClient(server.port()).ask(get("/ws", wanted)).status, 101);
}

TEST(WebSocket, ReadsEveryLineOfTheFieldsThatAskForIt) {
  LiveServer server(socket_table());
  RawClient client(server.port());
  const std::string asked =
      "Connection: keep-alive\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  EXPECT_EQ(client.ask(get("/ws", asked)).status, 101);
}

TEST(WebSocket, ClosesWhenItsHandlerFails) {
  LiveServer server(socket_table());
  Client client(server.port());
  EXPECT_THROW((void)client.ask("fail"), boost::system::system_error);
  EXPECT_EQ(client.stream.reason().code, websocket::close_code::internal_error);
  EXPECT_EQ(client.stream.reason().reason, "not_found");
}

TEST(WebSocket, AHandlerThatEndsWhileItReadsStillSaysGoodbye) {
  LiveServer server(socket_table());
  Client client(server.port(), "/farewell");
  EXPECT_EQ(client.closed_with(), websocket::close_code::normal);
  EXPECT_TRUE(eventually([&] { return server.server.connections() == 0; }));
}

TEST(WebSocket, AnAbandonedMessageIsWholeBeforeTheGoodbye) {
  LiveServer server(socket_table());
  Client client(server.port(), "/half");
  client.stream.read_message_max(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  boost::beast::flat_buffer buffer;
  EXPECT_EQ(client.stream.read(buffer), size_t{16} << 20);
  EXPECT_EQ(client.closed_with(), websocket::close_code::normal);
}

TEST(WebSocket, WaitsForABusyHandlerAndStillMissesASilentClient) {
  http::ServerOptions options;
  options.limits.websocket_idle_timeout = std::chrono::milliseconds(300);
  LiveServer server(socket_table(), options);
  Client client(server.port(), "/busy");
  client.stream.binary(true);
  client.stream.write(asio::buffer(std::string("wait")));
  EXPECT_EQ(client.ask("still there"), "still there");
  // Who does not read does not answer the ping either.
  EXPECT_TRUE(eventually([&] { return server.server.connections() == 0; }));
}

TEST(WebSocket, ClientsThatVanishEndTheirHandler) {
  LiveServer server(socket_table());
  for (const char* last_word : {"hello", "sleep"}) {
    ended = 0;
    Client client(server.port());
    client.stream.binary(true);
    client.stream.write(asio::buffer(std::string(last_word)));
    client.stream.next_layer().close();
    EXPECT_TRUE(eventually([&] { return ended == 1; })) << last_word;
  }
  EXPECT_TRUE(eventually([&] { return server.server.connections() == 0; }));
}

// The fields of a request that is answered by 101.
const std::string kUpgrade =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

TEST(WebSocket, TellsPlainRequestsHowToAsk) {
  LiveServer server(socket_table());
  RawClient client(server.port());
  const auto answer = client.ask(get("/ws"));
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("HTTP/1.1 with 'Connection: Upgrade'"), std::string::npos);
}

TEST(WebSocket, TellsAClientThatDoesNotWaitForItsAnswer) {
  LiveServer server(socket_table());
  RawClient client(server.port());
  const auto answer = client.ask(get("/ws", kUpgrade) + "\x82\x80");
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("after the answer"), std::string::npos);
}

TEST(WebSocket, IsNotAnsweredToHttp10) {
  LiveServer server(socket_table());
  RawClient client(server.port());
  EXPECT_EQ(client.ask("GET /ws HTTP/1.0\r\nHost: x\r\n" + kUpgrade + "\r\n").status, 400);
}

TEST(WebSocket, TellsItsVersionToWhoSpeaksAnother) {
  LiveServer server(socket_table());
  const std::string upgrade =
      "Connection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: ";
  RawClient client(server.port());
  const auto old = client.ask(get("/ws", upgrade + "8\r\n"));
  EXPECT_EQ(old.status, 400);
  EXPECT_EQ(old.headers.find("Sec-WebSocket-Version"), "13");
  RawClient plain(server.port());
  EXPECT_FALSE(plain.ask(get("/ws")).headers.find("Sec-WebSocket-Version"));
}

TEST(WebSocket, StopsWithItsServer) {
  http::ServerOptions options;
  options.grace = std::chrono::milliseconds(50);
  for (const char* path : {"/ws", "/both"}) {
    LiveServer server(socket_table(), options);
    Client client(server.port(), path);
    EXPECT_EQ(client.ask("hello"), "hello");
    auto heard = std::async(std::launch::async, [&] { return client.closed_with(); });
    server.server.stop();
    EXPECT_EQ(server.server.connections(), 0u);
    EXPECT_EQ(heard.get(), websocket::close_code::going_away) << path;
  }
}

TEST(WebSocket, ASilentClientDoesNotHoldTheStop) {
  http::ServerOptions options;
  options.grace = std::chrono::milliseconds(50);
  LiveServer server(socket_table(), options);
  Client client(server.port());
  EXPECT_EQ(client.ask("hello"), "hello");
  server.server.stop();
  EXPECT_EQ(server.server.connections(), 0u);
}

}  // namespace
}  // namespace sandgate
