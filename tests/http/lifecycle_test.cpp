#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include "tests/http/live_server.hpp"

// Clients that leave, handlers that are cancelled, servers that stop.
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
using test::says;

// What a handler that waits for ever went through.
struct Witness {
  std::atomic<int> entered{0};
  std::atomic<int> cancelled{0};
  std::atomic<int> finished{0};
};

struct Leave {
  Witness& witness;
  bool finished = false;
  ~Leave() { ++(finished ? witness.finished : witness.cancelled); }
};

// Answers that wait before their first byte.
void add_late_routes(http::Routes& routes, Witness& witness) {
  const auto wait = [&witness]() -> Task<void> {
    Leave leave{witness};
    ++witness.entered;
    co_await sleep_for(std::chrono::seconds(60));
  };
  routes.add(
      {Method::get, "/late", Permission::open, BodyMode::none, [wait](Request&) -> Task<Response> {
         Response response;
         response.body = http::StreamBody{
             .length = 5, .produce = [wait](http::BodySink&) -> Task<void> { return wait(); }};
         co_return response;
       }});
  routes.add({Method::get, "/relayed", Permission::open, BodyMode::none,
              [wait](Request&) -> Task<Response> {
                Response response;
                response.body = http::RelayBody{[wait](http::ClientSide&) -> Task<bool> {
                  co_await wait();
                  co_return true;
                }};
                co_return response;
              }});
}

http::Routes table(Witness& witness) {
  http::Routes routes;
  add_late_routes(routes, witness);
  routes.add({Method::get, "/hello", Permission::open, BodyMode::none, says("hello")});
  routes.add({Method::get, "/wait", Permission::open, BodyMode::none,
              [&](Request& request) -> Task<Response> {
                Leave leave{witness};
                ++witness.entered;
                co_await sleep_for(
                    std::chrono::milliseconds(request.query.integer("ms", 0, 60'000, 60'000)));
                leave.finished = true;
                co_return Response::empty(204);
              }});
  routes.add(
      {Method::get, "/stream", Permission::open, BodyMode::none, [&](Request&) -> Task<Response> {
         Response response;
         http::StreamBody body;
         body.produce = [&](http::BodySink& sink) -> Task<void> {
           Leave leave{witness};
           ++witness.entered;
           co_await sink.write(std::string_view("begin"));
           co_await sleep_for(std::chrono::seconds(60));
           leave.finished = true;
         };
         response.body = std::move(body);
         co_return response;
       }});
  routes.add({Method::post, "/upload", Permission::open, BodyMode::streamed,
              [&](Request& request) -> Task<Response> {
                Leave leave{witness};
                ++witness.entered;
                std::array<char, 1000> bytes;
                while (co_await request.stream->read(bytes) > 0) {
                }
                leave.finished = true;
                co_return Response::empty(204);
              }});
  return routes;
}

TEST(Lifecycle, AClientThatLeavesCancelsItsHandler) {
  Witness witness;
  LiveServer server(table(witness));
  for (const bool reset : {false, true}) {
    RawClient client(server.port());
    client.send(get("/wait"));
    ASSERT_TRUE(eventually([&] { return witness.entered == 1; }));
    if (reset)
      client.reset();
    else
      client.close();
    ASSERT_TRUE(eventually([&] { return witness.cancelled == 1; }));
    witness.entered = witness.cancelled = 0;
  }
  EXPECT_EQ(witness.finished, 0);
  EXPECT_TRUE(eventually([&] { return server.server.connections() == 0; }));
}

TEST(Lifecycle, APipelinedRequestIsNotADisconnect) {
  Witness witness;
  LiveServer server(table(witness));
  RawClient client(server.port());
  // One follows in the same packet, one while the handler runs.
  client.send(get("/wait?ms=600") + get("/hello"));
  ASSERT_TRUE(eventually([&] { return witness.entered == 1; }));
  client.send(get("/hello"));
  EXPECT_EQ(client.receive().status, 204);
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(witness.finished, 1);
  EXPECT_EQ(witness.cancelled, 0);
  // With requests still waiting to be read, leaving is leaving all the same.
  client.send(get("/wait") + get("/hello"));
  ASSERT_TRUE(eventually([&] { return witness.entered == 2; }));
  client.send(get("/hello"));
  client.close();
  EXPECT_TRUE(eventually([&] { return witness.cancelled == 1; }));
}

TEST(Lifecycle, AClientThatLeavesAQuietStreamCancelsIt) {
  Witness witness;
  LiveServer server(table(witness));
  RawClient client(server.port());
  client.send(get("/stream"));
  ASSERT_TRUE(eventually([&] { return witness.entered == 1; }));
  client.close();
  EXPECT_TRUE(eventually([&] { return witness.cancelled == 1; }));
}

TEST(Lifecycle, AClientThatLeavesItsUploadCancelsIt) {
  Witness witness;
  LiveServer server(table(witness));
  RawClient client(server.port());
  client.send("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nsome");
  ASSERT_TRUE(eventually([&] { return witness.entered == 1; }));
  client.close();
  EXPECT_TRUE(eventually([&] { return witness.cancelled == 1; }));
}

TEST(Lifecycle, StoppingLetsAnswersInProgressEnd) {
  Witness witness;
  LiveServer server(table(witness));
  RawClient busy(server.port()), idle(server.port());
  EXPECT_EQ(idle.ask(get("/hello")).status, 200);
  busy.send(get("/wait?ms=400"));
  ASSERT_TRUE(eventually([&] { return witness.entered == 1; }));
  const auto begin = std::chrono::steady_clock::now();
  server.server.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(witness.finished, 1);
  const auto reply = busy.receive();
  EXPECT_EQ(reply.status, 204);
  EXPECT_EQ(reply.headers.find("Connection"), "close");
  EXPECT_TRUE(idle.ended());
  EXPECT_THROW(RawClient(server.port()), boost::system::system_error);
}

// A server that stops within a moment, whatever waits.
class ShortGrace : public testing::Test {
 protected:
  static http::ServerOptions options() {
    http::ServerOptions options;
    options.grace = std::chrono::milliseconds(100);
    return options;
  }

  Witness witness;
  LiveServer server{table(witness), options()};
};

TEST_F(ShortGrace, StoppingCancelsWhatOutlastsTheGrace) {
  RawClient client(server.port());
  client.send(get("/wait"));
  ASSERT_TRUE(eventually([&] { return witness.entered == 1; }));
  server.server.stop();
  EXPECT_EQ(witness.cancelled, 1);
  EXPECT_EQ(server.server.connections(), 0u);
}

TEST_F(ShortGrace, WhoIsCutOffByAStopIsTold) {
  const std::string upload = "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\nsome";
  std::vector<std::unique_ptr<RawClient>> clients;
  for (const std::string& asked : {get("/wait"), get("/late"), get("/relayed"), upload}) {
    clients.push_back(std::make_unique<RawClient>(server.port()));
    clients.back()->send(asked);
  }
  RawClient streaming(server.port());
  streaming.send(get("/stream"));
  ASSERT_TRUE(eventually([&] { return witness.entered == 5; }));
  const auto begin = std::chrono::steady_clock::now();
  server.server.stop();
  // None of them closes its connection.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  EXPECT_EQ(witness.cancelled, 5);
  EXPECT_EQ(server.server.connections(), 0u);
  for (const auto& client : clients) {
    const auto reply = client->receive();
    EXPECT_EQ(reply.status, 503);
    EXPECT_EQ(reply.headers.find("Retry-After"), "1");
    EXPECT_EQ(reply.headers.find("Connection"), "close");
    EXPECT_EQ(Json::parse(reply.body).at("code"), "unavailable");
    EXPECT_TRUE(client->ended());
  }
  // An answer that has begun can only break off.
  EXPECT_THROW(streaming.receive(), std::exception);
}

TEST_F(ShortGrace, WhoGoesOnSendingDoesNotDelayAStop) {
  RawClient client(server.port());
  client.send("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\nsome");
  ASSERT_TRUE(eventually([&] { return witness.entered == 1; }));
  std::atomic<bool> over{false};
  std::thread sending([&] {
    try {
      while (!over) {
        client.send("more");
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    } catch (const boost::system::system_error&) {
      // The server no longer listens to it.
    }
  });
  const auto begin = std::chrono::steady_clock::now();
  server.server.stop();
  over = true;
  sending.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  EXPECT_EQ(server.server.connections(), 0u);
}

TEST(Lifecycle, WhatCouldNotBeAcceptedDoesNotEndTheServer) {
  Witness witness;
  LiveServer server(table(witness));
  asio::io_context loop;
  asio::ip::tcp::socket early(loop, asio::ip::tcp::v4());
  const int lowest_free = ::dup(early.native_handle());
  ASSERT_GE(lowest_free, 0);
  ::close(lowest_free);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{static_cast<rlim_t>(lowest_free), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  early.connect({asio::ip::address_v4::loopback(), server.port()});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  setrlimit(RLIMIT_NOFILE, &before);
  // First in the queue, so it is accepted before the next one.
  EXPECT_TRUE(eventually([&] { return server.server.connections() == 1; }));
  EXPECT_EQ(RawClient(server.port()).ask(get("/hello")).status, 200);
}

TEST(Lifecycle, ATakenPortIsTriedAgain) {
  Witness witness;
  auto first = std::make_unique<LiveServer>(table(witness));
  http::ServerOptions options;
  options.port = first->port();
  http::IoThreads io(1);
  io.start();
  http::Routes routes = table(witness);
  test::WordAuthenticator authenticator;
  http::Dispatcher dispatcher(routes, {authenticator});
  http::Server second(io, dispatcher, options);
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    first.reset();
  });
  EXPECT_NO_THROW(second.start());
  release.join();
  second.stop();
  io.stop();
}

// Nobody without a key keeps others out by not reading what anybody may have.
TEST(Lifecycle, AStrangerWhoReadsNothingGivesWay) {
  http::Routes routes;
  routes.add(
      {Method::get, "/large", Permission::open, BodyMode::none, says(std::string(16 << 20, 'a'))});
  routes.add({Method::get, "/v1/hello", Permission::read, BodyMode::none, says("hello")});
  http::ServerOptions options;
  options.max_connections = 8;
  LiveServer server(std::move(routes), options);
  std::vector<std::unique_ptr<RawClient>> strangers;
  for (size_t i = 0; i < options.max_connections; ++i) {
    strangers.push_back(std::make_unique<RawClient>(server.port()));
    strangers.back()->send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    char first = 0;  // the answer has begun
    asio::read(strangers.back()->socket(), asio::buffer(&first, 1));
  }
  EXPECT_EQ(RawClient(server.port()).ask(get("/v1/hello")).status, 200);
}

}  // namespace
}  // namespace sandgate
