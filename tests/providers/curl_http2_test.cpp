#include <gtest/gtest.h>

#include <atomic>

#include "providers/transport/curl_client.hpp"
#include "tests/providers/scripted_server.hpp"
#include "tests/support/run.hpp"

// HTTP/2 without TLS, trailers, and requests that must not be sent twice.
namespace sandgate::test {
namespace {

using asio::ip::tcp;
using namespace std::string_literals;

enum FrameType : char { kData = 0, kHeaders = 1, kSettings = 4 };
constexpr char kEndStream = 1, kAck = 1, kEndHeaders = 4;

std::string h2_frame(FrameType type, char flags, char stream, const std::string& payload) {
  const auto size = static_cast<char>(payload.size());  // all of ours are short
  return "\0\0"s + size + static_cast<char>(type) + flags + "\0\0\0"s + stream + payload;
}

// A field that no table holds.
std::string h2_field(const std::string& name, const std::string& value) {
  return "\0"s + static_cast<char>(name.size()) + name + static_cast<char>(value.size()) + value;
}

const std::string kStatus200 = "\x88";
constexpr const char* kAsked = "what is asked for";

// Reads up to the request's body: an answer to what was not asked yet is none.
Task<void> hear_request(tcp::socket& socket) {
  std::string text;
  while (text.find(kAsked) == std::string::npos) {
    std::string piece(4096, '\0');
    piece.resize(co_await socket.async_read_some(asio::buffer(piece), asio::use_awaitable));
    text += piece;
  }
  EXPECT_TRUE(text.starts_with("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
}

// Answers the first stream with these frames.
ScriptedServer::Script answering(std::string frames) {
  return [frames](tcp::socket& socket) -> Task<void> {
    co_await hear_request(socket);
    std::string settings = h2_frame(kSettings, 0, 0, "") + h2_frame(kSettings, kAck, 0, "");
    const std::string answer = settings + frames;
    co_await ScriptedServer::say(socket, answer);
    // Until the client goes; what it says after that does not matter.
    std::string rest(1 << 16, '\0');
    for (size_t count = 1; count > 0;) {
      boost::system::error_code gone;
      count = co_await socket.async_read_some(asio::buffer(rest),
                                              asio::redirect_error(asio::use_awaitable, gone));
    }
  };
}

HttpCall http2_call(const std::string& url) {
  HttpCall call{.method = "POST", .url = url + "/p.S/M", .body = kAsked};
  call.http2 = true;
  call.allow_private = true;
  return call;
}

TEST(CurlHttp2, AReplyHasItsTrailers) {
  ScriptedServer server(
      answering(h2_frame(kHeaders, kEndHeaders, 1, kStatus200 + h2_field("x-head", "1")) +
                h2_frame(kData, 0, 1, "hi") +
                h2_frame(kHeaders, kEndHeaders | kEndStream, 1, h2_field("grpc-status", "0"))));
  CurlClient client;
  const auto reply = run(client.call(http2_call(server.url())));
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, "hi");
  EXPECT_EQ(find_field(reply.headers, "x-head"), "1");
  EXPECT_FALSE(find_field(reply.headers, "grpc-status"));
  EXPECT_EQ(find_field(reply.trailers, "grpc-status"), "0");
}

TEST(CurlHttp2, OneCallAfterAnotherIsAnswered) {
  ScriptedServer server(
      answering(h2_frame(kHeaders, kEndHeaders, 1, kStatus200) + h2_frame(kData, 0, 1, "hi") +
                h2_frame(kHeaders, kEndHeaders | kEndStream, 1, h2_field("grpc-status", "0"))));
  CurlClient client;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run(client.call(http2_call(server.url()))).trailers.size(), 1u);
}

TEST(CurlHttp2, AStreamHasItsTrailersAtItsEnd) {
  ScriptedServer server(
      answering(h2_frame(kHeaders, kEndHeaders, 1, kStatus200) + h2_frame(kData, 0, 1, "a") +
                h2_frame(kData, 0, 1, "b") +
                h2_frame(kHeaders, kEndHeaders | kEndStream, 1, h2_field("grpc-status", "5"))));
  CurlClient client;
  const auto stream = run(client.stream(http2_call(server.url())));
  std::string all, piece(10, '\0');
  while (const size_t count = run(stream->read(piece))) all.append(piece, 0, count);
  EXPECT_EQ(all, "ab");
  EXPECT_EQ(find_field(stream->trailers(), "grpc-status"), "5");
}

TEST(CurlHttp2, AStreamThatBreaksOffIsNoEnd) {
  ScriptedServer server([](tcp::socket& socket) -> Task<void> {
    co_await hear_request(socket);
    const std::string frames = h2_frame(kSettings, 0, 0, "") +
                               h2_frame(kHeaders, kEndHeaders, 1, kStatus200) +
                               h2_frame(kData, 0, 1, "a");
    co_await ScriptedServer::say(socket, frames);
    socket.shutdown(tcp::socket::shutdown_send);
    co_await sleep_for(std::chrono::hours(1));
  });
  CurlClient client;
  EXPECT_THROW(run(client.call(http2_call(server.url()))), Error);
}

TEST(CurlHttp2, AServerOfHttp1IsNone) {
  ScriptedServer server([](tcp::socket& socket) -> Task<void> {
    co_await ScriptedServer::say(socket, "HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  CurlClient client;
  EXPECT_THROW(run(client.call(http2_call(server.url()))), Error);
}

// Answers the first request of a connection and breaks off at the second.
class Forgetful {
 public:
  ScriptedServer::Script script() {
    return [this](tcp::socket& socket) -> Task<void> {
      co_await ScriptedServer::head(socket);
      ++asked;
      if (!alive) co_return;
      co_await ScriptedServer::say(socket, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      co_await ScriptedServer::head(socket);
      ++asked;
    };
  }
  std::atomic<int> asked = 0;
  std::atomic<bool> alive = true;
};

TEST(CurlClient, WhatMayBeSentOnceIsSentOnce) {
  struct Case {
    std::string method;
    int asked;
  };
  // The transport repeats a question that it sent on a connection from the pool.
  for (const Case& one : {Case{"GET", 3}, Case{"POST", 2}, Case{"PATCH", 2}}) {
    Forgetful forgetful;
    ScriptedServer server(forgetful.script());
    CurlClient client;
    HttpCall call{.method = one.method, .url = server.url()};
    call.allow_private = true;
    run(client.call(call));
    forgetful.alive = false;
    EXPECT_THROW(run(client.call(call)), Error);
    EXPECT_EQ(forgetful.asked, one.asked) << one.method;
  }
}

}  // namespace
}  // namespace sandgate::test
