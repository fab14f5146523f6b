#include <gtest/gtest.h>

#include "tests/http/live_server.hpp"

// What hostile or broken clients send over raw sockets.
namespace sandgate {
namespace {

using test::get;
using test::LiveServer;
using test::RawClient;
using test::says;

http::Routes table() {
  http::Routes routes;
  routes.add(
      {http::Method::get, "/hello", http::Permission::open, http::BodyMode::none, says("hello")});
  routes.add({http::Method::post, "/echo", http::Permission::open, http::BodyMode::buffered,
              [](http::Request& request) -> Task<http::Response> {
                co_return http::Response::json(200, request.body);
              }});
  return routes;
}

struct Malformed {
  const char* what;
  std::string bytes;
  int status;
};

const std::string kPost = "POST /echo HTTP/1.1\r\nHost: x\r\n";
const std::string kChunked = kPost + "Transfer-Encoding: chunked\r\n\r\n";
const std::string kGet = "GET /hello HTTP/1.1\r\nHost: x\r\n";

std::vector<Malformed> malformed_framing() {
  return {
      {"no HTTP at all", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400},
      {"no version", "GET /hello\r\n\r\n", 400},
      {"version 2", "GET /hello HTTP/2.0\r\nHost: x\r\n\r\n", 400},
      {"bare LF", "GET /hello HTTP/1.1\nHost: x\n\n", 400},
      {"space before colon", kGet + "Content-Length : 3\r\n\r\n", 400},
      {"no Host", "GET /hello HTTP/1.1\r\n\r\n", 400},
      {"a Host of two words", "GET /hello HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
      {"a Host with a path", "GET /hello HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
      {"a Host with a user", "GET /hello HTTP/1.1\r\nHost: u@a\r\n\r\n", 400},
      {"a Host whose port is none", "GET /hello HTTP/1.1\r\nHost: a:b\r\n\r\n", 400},
      {"a list of Hosts", "GET /hello HTTP/1.1\r\nHost: a, b\r\n\r\n", 400},
      {"two Hosts", kGet + "Host: y\r\n\r\n", 400},
      {"length and chunked", kPost + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
       400},
      {"chunked and length", kPost + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
       400},
      {"two lengths", kPost + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400},
      {"the same length twice", kPost + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400},
      {"a list of lengths", kPost + "Content-Length: 3, 3\r\n\r\nabc", 400},
      {"negative length", kPost + "Content-Length: -3\r\n\r\n", 400},
      {"endless length", kPost + "Content-Length: 99999999999999999999999\r\n\r\n", 400},
      {"hex length", kPost + "Content-Length: 0x10\r\n\r\n", 400},
      {"unknown coding", kPost + "Transfer-Encoding: gzip\r\n\r\n", 400},
      {"two codings", kPost + "Transfer-Encoding: chunked, gzip\r\n\r\n", 400},
      {"nearly chunked", kPost + "Transfer-Encoding: xchunked\r\n\r\n", 400},
      {"chunked in 1.0", "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
  };
}

std::vector<Malformed> malformed_chunks() {
  return {
      {"bad chunk size", kChunked + "xyz\r\n", 400},
      {"a chunk size of letters", kChunked + "zz\r\n", 400},
      {"a chunk size and a letter", kChunked + "1z\r\n", 400},
      {"chunk without end", kChunked + "3\r\nabcdef\r\n", 400},
      {"bare LF in chunks", kChunked + "3\nabc\n0\n\n\r\n", 400},
      {"bare LF behind a chunk size", kChunked + "3\nabc", 400},
      {"bare LF behind a later size", kChunked + "3\r\nabc\r\n4;x\n", 400},
      {"a chunk size and a bare LF", kChunked + "3\n", 400},
      {"chunk size overflow", kChunked + "11111111111111111\r\nabc\r\n", 400},
  };
}

std::vector<Malformed> malformed_heads() {
  return {
      {"NUL in a value", kGet + std::string("X-A: a\0b\r\n\r\n", 12), 400},
      {"a folded field", kGet + "X-A: a\r\n b\r\n\r\n", 400},
      {"a field folded by a tab", kGet + "X-A: a\r\n\tb\r\n\r\n", 400},
      {"a field folded before its value", kGet + "X-A:\r\n b\r\n\r\n", 400},
      {"a field folded behind its value", kGet + "X-A: a\r\n \r\n\r\n", 400},
      {"a folded length", kPost + "Content-Length:\r\n 3\r\n\r\nabc", 400},
      {"a folded coding", kPost + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", 400},
      {"a fold before all fields", "GET /hello HTTP/1.1\r\n X-A: b\r\nHost: x\r\n\r\n", 400},
      {"a target whose host is two", "GET http://a,b:c/hello HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"control character in a name", kGet + "X\x01: a\r\n\r\n", 400},
      {"NUL in the path", "GET /%00 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"bad escape", "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"not UTF-8", "GET /%ff HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"not UTF-8 in the query", "GET /hello?a=%c3%28 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"authority form", "CONNECT host:80 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"fragment", "GET /hello#a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"long target", "GET /" + std::string(14000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", 414},
      {"long header", kGet + "X-A: " + std::string(20000, 'a') + "\r\n\r\n", 431},
      {"endless request line", std::string(30000, 'A'), 431},
      {"endless target", "GET /" + std::string(30000, 'a'), 414},
      {"target without a host", "GET http:///hello HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"target with a user", "GET http://a@x/hello HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"fragment of a target without path", "GET http://x#a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"many empty lines", "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n" + kGet + "\r\n", 400},
      {"many fields",
       [] {
         std::string text = kGet;
         for (int i = 0; i < 200; ++i) text += "A: b\r\n";
         return text + "\r\n";
       }(),
       431},
  };
}

std::vector<Malformed> malformed() {
  std::vector<Malformed> all = malformed_framing();
  for (const Malformed& one : malformed_chunks()) all.push_back(one);
  for (const Malformed& one : malformed_heads()) all.push_back(one);
  return all;
}

TEST(Malformed, IsRefusedWithAProblemAndTheEnd) {
  LiveServer server(table());
  for (const Malformed& test : malformed()) {
    RawClient client(server.port());
    client.send(test.bytes);
    try {
      const auto reply = client.receive();
      EXPECT_EQ(reply.status, test.status) << test.what;
      EXPECT_EQ(reply.headers.find("Content-Type"), "application/problem+json") << test.what;
      EXPECT_TRUE(reply.headers.find("X-Request-Id")) << test.what;
      EXPECT_EQ(Json::parse(reply.body)["request_id"], *reply.headers.find("X-Request-Id"));
    } catch (const std::exception& failure) {
      ADD_FAILURE() << test.what << ": " << failure.what();
    }
    EXPECT_TRUE(client.ended()) << test.what;
  }
  RawClient client(server.port());
  EXPECT_EQ(client.ask(get("/hello")).status, 200);
}

TEST(Malformed, AHeadMayBeAsLongAsConfigured) {
  http::ServerOptions options;
  options.limits.header_bytes = 200'000;
  LiveServer server(table(), options);
  const auto with = [](size_t bytes) {
    return kGet + "X-A: " + std::string(bytes, 'a') + "\r\n\r\n";
  };
  RawClient client(server.port());
  EXPECT_EQ(client.ask(with(150'000)).status, 200);
  EXPECT_EQ(client.ask(with(250'000)).status, 431);
}

// docs/operating.md and docs/openapi.yaml tell the number.
TEST(Malformed, AHeadHasAtMostAHundredFields) {
  LiveServer server(table());
  RawClient client(server.port());
  std::string head = kGet;
  for (int i = 1; i < 100; ++i) head += "A: b\r\n";
  EXPECT_EQ(client.ask(head + "\r\n").status, 200);
  EXPECT_EQ(client.ask(head + "A: b\r\n\r\n").status, 431);
}

TEST(Malformed, ATargetHoldsTheLongestPathOfAFile) {
  LiveServer server(table());
  RawClient client(server.port());
  std::string path = "a";
  for (int i = 0; i < 2047; ++i) path += "%C3%A9";
  const std::string target = "/hello?path=" + path + "&recursive=true";
  EXPECT_EQ(client.ask("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
}

TEST(Malformed, OddButValidRequestsAreAnswered) {
  LiveServer server(table());
  RawClient client(server.port());
  EXPECT_EQ(client.ask("GET http://elsewhere/hello HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
  EXPECT_EQ(client.ask("GET /hello? HTTP/1.1\r\nhOST: x\r\nX-Empty:\r\n\r\n").status, 200);
  for (const char* host : {"", "a-b_c.example:8080", "127.0.0.1:1", "[::1]", "[::1]:8080", "a%20b"})
    EXPECT_EQ(client.ask(std::string("GET /hello HTTP/1.1\r\nHost: ") + host + "\r\n\r\n").status,
              200)
        << host;
  EXPECT_EQ(client.ask("GET /a/../hello HTTP/1.1\r\nHost: x\r\n\r\n").status, 404);
  EXPECT_EQ(client.ask("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n").status, 404);
  EXPECT_EQ(client.ask("\r\nGET /hello HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
  client.send("\r");
  EXPECT_EQ(client.ask("\nGET /hello HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
  EXPECT_EQ(client.ask("\r\n\r\n\r\nGET /hello HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
}

TEST(Malformed, NamesTheFieldThatIsWrong) {
  LiveServer server(table());
  const std::pair<const char*, std::string> cases[] = {
      {"Host", kGet + "Host: y\r\n\r\n"},
      {"Host", "GET /hello HTTP/1.1\r\n\r\n"},
      {"Host", "GET /hello HTTP/1.1\r\nHost: a b\r\n\r\n"},
      {"X-A", kGet + "X-A: a\r\n b\r\n\r\n"},
      {"Content-Length", kPost + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"},
      {"Transfer-Encoding", kPost + "Transfer-Encoding: gzip\r\n\r\n"}};
  for (const auto& [name, bytes] : cases) {
    RawClient client(server.port());
    const Json problem = Json::parse(client.ask(bytes).body);
    EXPECT_EQ(problem["code"], "invalid");
    EXPECT_EQ(problem["fields"][0]["path"], std::string("/") + name) << bytes;
  }
}

TEST(Malformed, SlowHeadersAreCutOff) {
  http::ServerOptions options;
  options.limits.header_timeout = std::chrono::milliseconds(150);
  options.limits.idle_timeout = std::chrono::seconds(60);
  LiveServer server(table(), options);
  RawClient client(server.port());
  client.send("GET /hello HTTP/1.1\r\n");
  EXPECT_TRUE(client.ended());
}

TEST(Malformed, IdleConnectionsEnd) {
  http::ServerOptions options;
  options.limits.idle_timeout = std::chrono::milliseconds(150);
  LiveServer server(table(), options);
  RawClient client(server.port());
  EXPECT_EQ(client.ask(get("/hello")).status, 200);
  EXPECT_TRUE(client.ended());
}

TEST(Malformed, StalledBodiesAreCutOff) {
  http::ServerOptions options;
  options.limits.body_timeout = std::chrono::milliseconds(150);
  LiveServer server(table(), options);
  RawClient client(server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  EXPECT_EQ(client.receive().status, 408);
  EXPECT_TRUE(client.ended());
}

TEST(Malformed, TooManyConnectionsAreTurnedAway) {
  http::ServerOptions options;
  options.max_connections = 2;
  LiveServer server(table(), options);
  // Both are in the middle of a request, as the server tells them: neither gives way.
  const std::string begun =
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n";
  RawClient first(server.port()), second(server.port());
  for (RawClient* client : {&first, &second}) EXPECT_EQ(client->ask(begun).status, 100);
  RawClient third(server.port());
  EXPECT_EQ(third.ask(get("/hello")).status, 503);
  EXPECT_TRUE(third.ended());
  third.close();
  first.close();
  EXPECT_TRUE(test::eventually([&] { return server.server.connections() == 1; }));
  RawClient fourth(server.port());
  EXPECT_EQ(fourth.ask(get("/hello")).status, 200);
}

}  // namespace
}  // namespace sandgate
