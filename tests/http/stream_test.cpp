#include <gtest/gtest.h>
#include <malloc.h>

#include <fstream>

#include "gateway/core/settle.hpp"
#include "gateway/http/event_stream.hpp"
#include "tests/http/live_server.hpp"
#include "tests/support/run.hpp"

// Bodies that flow: both ways, bounded memory, broken off.
namespace sandgate {
namespace {

using http::BodyMode;
using http::Method;
using http::Permission;
using http::Request;
using http::Response;
using test::eventually;
using test::get;
using test::LiveServer;
using test::RawClient;

constexpr size_t kMany = size_t{256} << 20;
constexpr size_t kChunk = 64 * 1024;

size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  size_t pages = 0, resident = 0;
  statm >> pages >> resident;
  return resident * 4096;
}

std::atomic<size_t> produced{0}, consumed{0};

Task<void> produce_many(http::BodySink& sink, size_t total) {
  const std::string chunk(kChunk, 'x');
  for (produced = 0; produced < total; produced += kChunk) co_await sink.write(chunk);
}

Task<Response> download(Request& request) {
  const auto total = static_cast<size_t>(request.query.integer("bytes", 0, 1 << 30, 0));
  Response response;
  http::StreamBody body;
  if (!request.query.flag("chunked")) body.length = total;
  const auto said = request.query.integer("said", 0, 1 << 30, -1);
  if (said >= 0) body.length = static_cast<uint64_t>(said);
  body.produce = [total](http::BodySink& sink) { return produce_many(sink, total); };
  response.body = std::move(body);
  co_return response;
}

Task<Response> upload(Request& request) {
  std::vector<char> bytes(kChunk);
  consumed = 0;
  while (const size_t count = co_await request.stream->read(bytes)) {
    consumed += count;
    if (request.query.flag("slow")) co_await sleep_for(std::chrono::milliseconds(20));
  }
  co_return Response::json(200, consumed.load());
}

Task<Response> refuse_soon() {
  co_await sleep_for(std::chrono::milliseconds(50));
  throw Error(ErrorCode::conflict, "not here");
}

Task<void> swallow(Request& request) {
  std::vector<char> bytes(kChunk);
  while (co_await request.stream->read(bytes) > 0) {
  }
}

// As an upload to a backend that answers before it has read everything.
Task<Response> refuses_while_reading(Request& request) {
  return with_companion(refuse_soon(), swallow(request));
}

Task<Response> fails_late(Request& request) {
  Response response;
  http::StreamBody body;
  if (request.query.flag("length")) body.length = 10;
  body.produce = [late = request.query.flag("late")](http::BodySink& sink) -> Task<void> {
    if (late) co_await sink.write(std::string_view("some"));
    throw Error(ErrorCode::not_found, "gone");
  };
  response.body = std::move(body);
  co_return response;
}

http::Routes streams_table() {
  http::Routes routes;
  routes.add({Method::get, "/download", Permission::open, BodyMode::none, download});
  routes.add({Method::post, "/upload", Permission::open, BodyMode::streamed, upload});
  routes.add(
      {Method::post, "/refusing", Permission::open, BodyMode::streamed, refuses_while_reading});
  routes.add({Method::get, "/fails", Permission::open, BodyMode::none, fails_late});
  return routes;
}

void drain(RawClient& client, size_t bytes) {
  std::vector<char> into(1 << 16);
  while (bytes > 0) {
    const size_t count =
        client.socket().read_some(asio::buffer(into.data(), std::min(bytes, into.size())));
    bytes -= count;
  }
}

TEST(Stream, DownloadsManyBytesInLittleMemory) {
  LiveServer server(streams_table());
  RawClient client(server.port());
  const size_t before = resident_bytes();
  client.send(get("/download?bytes=" + std::to_string(kMany)));
  size_t most = 0;
  for (size_t left = kMany; left > 0; left -= kMany / 16) {
    drain(client, kMany / 16);
    most = std::max(most, resident_bytes());
  }
  EXPECT_LT(most, before + (size_t{24} << 20));
}

TEST(Stream, UploadsManyBytesInLittleMemory) {
  LiveServer server(streams_table());
  RawClient client(server.port());
  const size_t before = resident_bytes();
  client.send("POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "10000\r\n" + std::string(kChunk, 'x') + "\r\n";
  for (size_t sent = 0; sent < kMany; sent += kChunk) client.send(chunk);
  client.send("0\r\n\r\n");
  EXPECT_EQ(client.receive().body, std::to_string(kMany));
  EXPECT_LT(resident_bytes(), before + (size_t{24} << 20));
}

TEST(Stream, AReaderThatPausesHoldsTheProducer) {
  LiveServer server(streams_table());
  RawClient client(server.port());
  constexpr size_t kEnough = size_t{64} << 20;  // parsed byte by byte, which is slow
  client.send(get("/download?chunked=true&bytes=" + std::to_string(kEnough)));
  size_t seen = 1;
  // Two looks without progress mean that the producer waits.
  ASSERT_TRUE(eventually([&] {
    const size_t now = produced;
    const bool still = now > 0 && now == seen;
    seen = now;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return still;
  }));
  EXPECT_LT(produced, size_t{32} << 20);  // what socket buffers hold
  EXPECT_EQ(client.receive().body.size(), kEnough);
}

TEST(Stream, AWriterIsHeldByASlowHandler) {
  LiveServer server(streams_table());
  RawClient client(server.port());
  client.send("POST /upload?slow=true HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n");
  client.socket().non_blocking(true);
  const std::string chunk(1 << 20, 'x');
  size_t sent = 0;
  boost::system::error_code failure;
  while (!failure) sent += client.socket().write_some(asio::buffer(chunk), failure);
  EXPECT_EQ(failure, asio::error::would_block);
  EXPECT_LT(sent, consumed + (size_t{32} << 20));
}

TEST(Stream, ARefusalIsToldToAClientThatStillSends) {
  LiveServer server(streams_table());
  RawClient client(server.port());
  client.send("POST /refusing HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nthe first");
  const auto answer = client.receive();
  EXPECT_EQ(answer.status, 409);
  EXPECT_NE(answer.body.find("not here"), std::string::npos);
}

TEST(Stream, BreaksOffWithoutACleanEnd) {
  LiveServer server(streams_table());
  for (const char* path :
       {"/fails?late=true", "/fails?late=true&length=true", "/download?bytes=65536&said=65537"}) {
    RawClient client(server.port());
    client.send(get(path));
    EXPECT_THROW((void)client.receive(), std::runtime_error) << path;
  }
}

TEST(Stream, FailsProperlyWhileNothingWasSent) {
  LiveServer server(streams_table());
  RawClient client(server.port());
  EXPECT_EQ(client.ask(get("/fails?length=true")).status, 404);
}

TEST(Stream, ToldInHeadersOnlyForHead) {
  LiveServer server(streams_table());
  RawClient client(server.port());
  const auto reply = client.ask("HEAD /download?bytes=100 HTTP/1.1\r\nHost: x\r\n\r\n", true);
  EXPECT_EQ(reply.headers.find("Content-Length"), "100");
  EXPECT_EQ(client.ask(get("/download?bytes=65536")).body.size(), 65536u);
}

TEST(Stream, EndsWithTheConnectionInHttp10) {
  LiveServer server(streams_table());
  RawClient client(server.port());
  const auto reply = client.ask(
      "GET /download?bytes=65536&chunked=true HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_FALSE(reply.headers.find("Transfer-Encoding"));
  EXPECT_EQ(reply.headers.find("Connection"), "close");
}

TEST(EventStream, FormatsEvents) {
  EXPECT_EQ(http::to_text({"stdout", "a\nb", "7"}), "event: stdout\nid: 7\ndata: a\ndata: b\n\n");
  EXPECT_EQ(http::to_text({"a\nb", "", ""}), "event: a b\ndata: \n\n");
  Request request;
  EXPECT_FALSE(http::last_event_id(request));
  request.headers.add("Last-Event-ID", "42");
  EXPECT_EQ(http::last_event_id(request), 42u);
  Request wrong;
  wrong.headers.add("Last-Event-ID", "-1");
  EXPECT_THROW((void)http::last_event_id(wrong), Error);
}

TEST(EventStream, SendsKeepsAliveAndFails) {
  http::Routes routes;
  routes.add({Method::get, "/events", Permission::open, BodyMode::none,
              [](Request& request) -> Task<Response> {
                http::EventStreamOptions options{request.id, std::chrono::milliseconds(50)};
                co_return http::event_stream(options, [](http::EventWriter& writer) -> Task<void> {
                  http::ServerEvent event{"tick", "1", "1"};
                  co_await writer.send(std::move(event));
                  co_await sleep_for(std::chrono::milliseconds(200));
                  throw Error(ErrorCode::unavailable, "backend left");
                });
              }});
  LiveServer server(std::move(routes));
  RawClient client(server.port());
  const auto reply = client.ask(get("/events"));
  EXPECT_EQ(reply.headers.find("Content-Type"), "text/event-stream");
  EXPECT_TRUE(reply.body.starts_with("event: tick\nid: 1\ndata: 1\n\n: keep-alive\n\n"));
  const size_t error = reply.body.find("event: error\ndata: {");
  ASSERT_NE(error, std::string::npos);
  EXPECT_NE(reply.body.find("\"code\":\"unavailable\"", error), std::string::npos);
}

struct Pieces : http::BodySink {
  Task<void> write(std::span<const char> bytes) override {
    pieces.emplace_back(bytes.begin(), bytes.end());
    co_return;
  }
  std::vector<std::string> pieces;
};

TEST(EventStream, WhatComesTogetherIsSentTogether) {
  Pieces sink;
  test::run([](http::BodySink& to) -> Task<void> {
    http::SharedSink shared(to, co_await asio::this_coro::executor);
    http::EventWriter writer(shared);
    const std::vector<http::ServerEvent> events{{"create", "1", ""}, {"write", "2", ""}};
    co_await writer.send_all(events);
  }(sink));
  EXPECT_EQ(sink.pieces,
            std::vector<std::string>{"event: create\ndata: 1\n\nevent: write\ndata: 2\n\n"});
}

class NoStreams final : public http::Admission {
 public:
  void admit(const http::Caller&, const http::Route&) override {}
  std::shared_ptr<void> open_stream(const http::Caller&) override {
    throw Error(ErrorCode::quota_exceeded, "too many streams");
  }
};

// Routes that count what they start and answer with a stream.
http::Routes starting(std::atomic<int>& started) {
  const auto start = [&started](Request&) -> Task<Response> {
    ++started;
    co_return http::event_stream({}, [](http::EventWriter&) -> Task<void> { co_return; });
  };
  http::Routes routes;
  routes.add({Method::post, "/v1/exec", Permission::use_sandboxes, BodyMode::buffered, start});
  routes.add({.method = Method::post,
              .pattern = "/v1/start",
              .permission = Permission::use_sandboxes,
              .body = BodyMode::buffered,
              .handler = start,
              .streams = true});
  routes.add({Method::get, "/v1/terminal", Permission::use_sandboxes, BodyMode::none, start});
  return routes;
}

// A client that is told 429 asks again: what it asked for must not be under way.
TEST(Stream, StartsNothingThatIsRefused) {
  NoStreams admission;
  std::atomic<int> started{0};
  LiveServer server(starting(started), {}, &admission);
  RawClient client(server.port());
  EXPECT_EQ(client.ask(test::post("/v1/exec", "{}", "Accept: text/event-stream\r\n")).status, 429);
  EXPECT_EQ(client.ask(test::post("/v1/start", "{}")).status, 429);
  const std::string upgrade =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  EXPECT_EQ(client.ask(get("/v1/terminal", upgrade)).status, 429);
  EXPECT_EQ(started, 0);
}

}  // namespace
}  // namespace sandgate
