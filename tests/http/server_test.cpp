#include "gateway/http/server.hpp"

#include <gtest/gtest.h>

#include "tests/http/live_server.hpp"

namespace sandgate {
namespace {

using http::BodyMode;
using http::Method;
using http::Permission;
using http::Request;
using http::Response;
using http::Route;
using test::get;
using test::LiveServer;
using test::post;
using test::RawClient;
using test::Reply;
using test::says;

Task<Response> echo(Request& request) {
  Response response;
  response.content_type = "text/plain";
  response.body = request.body;
  co_return response;
}

Task<Response> show(Request& request) {
  const asio::any_io_executor here = co_await asio::this_coro::executor;
  const TracePtr trace = trace_of(here);
  co_return Response::json(200, {{"path", request.path},
                                 {"id", request.param("id")},
                                 {"q", request.query.find("q").value_or("")},
                                 {"trace", trace ? trace->parent + " " + trace->state : ""},
                                 {"address", request.remote_address}});
}

Task<Response> fail(Request&) {
  throw std::runtime_error("password=secret");
  co_return Response::empty(200);
}

Task<Response> inject(Request&) {
  Response response = Response::json(200, {});
  response.headers.emplace_back("X-Name", "a\r\nSet-Cookie: b");
  co_return response;
}

http::Routes server_table() {
  http::Routes routes;
  routes.add({Method::get, "/hello", Permission::open, BodyMode::none, says("hello")});
  routes.add({Method::get, "/v1/things/{id}", Permission::read, BodyMode::none, show});
  routes.add({Method::post, "/v1/echo", Permission::use_sandboxes, BodyMode::buffered, echo, 1000});
  routes.add({Method::delete_, "/v1/things/{id}", Permission::use_sandboxes, BodyMode::none,
              [](Request&) -> Task<Response> { co_return Response::empty(204); }});
  routes.add({Method::get, "/v1/fail", Permission::read, BodyMode::none, fail});
  routes.add({Method::get, "/v1/inject", Permission::read, BodyMode::none, inject});
  return routes;
}

std::string code(const Reply& reply) { return Json::parse(reply.body).value("code", ""); }

TEST(Server, AnswersOnOneConnectionAgainAndAgain) {
  LiveServer server(server_table());
  RawClient client(server.port());
  std::set<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    const Reply reply = client.ask(get("/v1/things/a%20b?q=%C3%A9",
                                       "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-"
                                       "00f067aa0ba902b7-01\r\ntracestate: a=1\r\n"));
    EXPECT_EQ(reply.status, 200);
    const Json seen = Json::parse(reply.body);
    EXPECT_EQ(seen["id"], "a b");
    EXPECT_EQ(seen["path"], "/v1/things/a b");
    EXPECT_EQ(seen["q"], "\xC3\xA9");
    EXPECT_EQ(seen["address"], "127.0.0.1");
    EXPECT_EQ(seen["trace"], "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 a=1");
    EXPECT_EQ(reply.headers.find("Server"), "sandgate");
    EXPECT_EQ(reply.headers.find("Content-Type"), "application/json");
    EXPECT_TRUE(reply.headers.find("Date"));
    ids.emplace(*reply.headers.find("X-Request-Id"));
  }
  EXPECT_EQ(ids.size(), 3u);
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  LiveServer server(server_table());
  RawClient client(server.port());
  std::string burst;
  for (int i = 0; i < 50; ++i)
    burst += post("/v1/echo", "body " + std::to_string(i)) + get("/v1/things/" + std::to_string(i));
  client.send(burst);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(client.receive().body, "body " + std::to_string(i));
    EXPECT_EQ(Json::parse(client.receive().body)["id"], std::to_string(i));
  }
}

TEST(Server, AnswersHeadFromGetWithoutABody) {
  LiveServer server(server_table());
  RawClient client(server.port());
  const Reply reply = client.ask("HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\n", true);
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.headers.find("Content-Length"), "16");
  EXPECT_EQ(client.ask(get("/hello")).body, "{\"says\":\"hello\"}");
}

TEST(Server, ReadsChunkedBodies) {
  LiveServer server(server_table());
  RawClient client(server.port());
  const std::string head =
      "POST /v1/echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  // One byte at a time: every state of the parser meets a packet's end.
  for (const char c : head + "5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\nX-Trailer: a\r\n\r\n")
    client.send({&c, 1});
  EXPECT_EQ(client.receive().body, "hello world");
  client.send(head + "0\r\n\r\n" + get("/hello"));
  EXPECT_EQ(client.receive().body, "");
  EXPECT_EQ(client.receive().status, 200);
}

TEST(Server, TakesBodiesAsTheyAreOnly) {
  LiveServer server(server_table());
  const auto ask = [&](const std::string& request) {
    return RawClient(server.port()).ask(request);
  };
  EXPECT_EQ(ask(post("/v1/echo", "plain", "Content-Encoding: identity\r\n")).body, "plain");
  EXPECT_EQ(ask(get("/hello", "Content-Encoding: gzip\r\n")).status, 200) << "of no body";
  for (const std::string coding : {"gzip", "identity, br", "GZIP"}) {
    const Reply reply = ask(post("/v1/echo", "packed", "Content-Encoding: " + coding + "\r\n"));
    EXPECT_EQ(reply.status, 415) << coding;
    EXPECT_EQ(code(reply), "invalid");
    EXPECT_EQ(Json::parse(reply.body)["fields"][0]["path"], "/Content-Encoding");
    EXPECT_EQ(reply.headers.find("Accept-Encoding"), "identity");
  }
  const std::string coded = "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx";
  EXPECT_EQ(
      ask("POST /v1/echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer viewer\r\n" + coded).status,
      403);
}

TEST(Server, SaysContinueOnlyWhenTheBodyIsWanted) {
  LiveServer server(server_table());
  RawClient client(server.port());
  const std::string expect = "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n";
  client.send("POST /v1/echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n" + expect);
  EXPECT_EQ(client.receive().status, 100);
  client.send("hello");
  EXPECT_EQ(client.receive().body, "hello");
  client.send("POST /v1/echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer viewer\r\n" + expect);
  EXPECT_EQ(client.receive().status, 403);
  EXPECT_TRUE(client.ended());
}

TEST(Server, RefusesBodiesThatAreTooLarge) {
  LiveServer server(server_table());
  RawClient declared(server.port());
  const Reply reply = declared.ask(post("/v1/echo", std::string(1001, 'a')));
  EXPECT_EQ(reply.status, 413);
  EXPECT_EQ(code(reply), "too_large");
  RawClient huge(server.port());
  huge.send(
      "POST /v1/echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n"
      "Content-Length: 1000000000\r\n\r\n" +
      std::string(2'000'000, 'a'));
  EXPECT_EQ(huge.receive().status, 413);
  RawClient chunked(server.port());
  chunked.send(
      "POST /v1/echo HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n"
      "Transfer-Encoding: chunked\r\n\r\n1000\r\n" +
      std::string(4096, 'a') + "\r\n");
  EXPECT_EQ(chunked.receive().status, 413);
  RawClient exact(server.port());
  EXPECT_EQ(exact.ask(post("/v1/echo", std::string(1000, 'a'))).status, 200);
}

// What a reload changes, changed while the server runs.
TEST(Server, TakesOtherLimitsWhileItRuns) {
  http::Routes routes = server_table();
  routes.add({Method::post, "/v1/any", Permission::use_sandboxes, BodyMode::buffered, echo});
  LiveServer server(std::move(routes));
  RawClient client(server.port());
  const std::string long_field = "X-A: " + std::string(3000, 'a') + "\r\n";
  EXPECT_EQ(client.ask(get("/hello", long_field)).status, 200);
  EXPECT_EQ(client.ask(post("/v1/any", std::string(100, 'a'))).status, 200);
  http::ServerOptions options;
  options.max_connections = 1;
  options.limits.header_bytes = 2000;
  server.server.change(options);
  server.dispatcher.set_body_bytes(50);
  EXPECT_EQ(client.ask(post("/v1/any", std::string(50, 'a'))).status, 200);
  // Busy, as it would give way otherwise: the server reads the next request's begin with this one,
  // whose answer does not give way either, since somebody with a key asked.
  EXPECT_EQ(client.ask(post("/v1/any", "") + "GET ").status, 200);
  RawClient second(server.port());
  EXPECT_EQ(second.ask(get("/hello")).status, 503);
  client.send("/hello HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.receive().status, 200);
  EXPECT_EQ(client.ask(get("/hello", long_field)).status, 431);
  EXPECT_TRUE(client.ended());
  EXPECT_TRUE(test::eventually([&] { return server.server.connections() == 0; }));
  RawClient third(server.port());
  EXPECT_EQ(third.ask(post("/v1/any", std::string(51, 'a'))).status, 413);
}

// One who keeps all connections there may be keeps nobody out.
TEST(Server, AConnectionThatWaitsGivesWayToANewOne) {
  http::ServerOptions options;
  options.max_connections = 8;
  LiveServer server(server_table(), options);
  std::vector<std::unique_ptr<RawClient>> kept;
  for (int i = 0; i < 100; ++i) {
    kept.push_back(std::make_unique<RawClient>(server.port()));
    EXPECT_EQ(kept.back()->ask(get("/hello")).status, 200) << i;
  }
  EXPECT_TRUE(test::eventually([&] { return server.server.connections() <= 8; }));
  EXPECT_TRUE(kept.front()->ended());
}

// Those that have waited long go first.
TEST(Server, AConnectionInUseOutlivesThoseThatAreKept) {
  http::ServerOptions options;
  options.max_connections = 8;
  LiveServer server(server_table(), options);
  RawClient used(server.port());
  std::vector<std::unique_ptr<RawClient>> kept;
  for (int i = 0; i < 40; ++i) {
    kept.push_back(std::make_unique<RawClient>(server.port()));
    EXPECT_EQ(kept.back()->ask(get("/hello")).status, 200) << i;
    EXPECT_EQ(used.ask(get("/hello")).status, 200) << i;
  }
}

// Many clients send their whole body before they look for an answer.
TEST(Server, AnEarlyAnswerReachesAClientThatGoesOnSending) {
  LiveServer server(server_table());
  const std::string body(40'000'000, 'a');
  for (const char* path : {"/v1/echo", "/v1/nowhere"}) {
    RawClient client(server.port());
    client.send("POST " + std::string(path) +
                " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n");
    EXPECT_NO_THROW(client.send(body)) << path;
    EXPECT_GE(client.receive().status, 400) << path;
    EXPECT_TRUE(client.ended()) << path;
  }
}

TEST(Server, AuthenticatesBeforeAnythingElse) {
  LiveServer server(server_table());
  RawClient client(server.port());
  const auto ask = [&](const std::string& method, const std::string& path, const std::string& key) {
    return client.ask(method + " " + path + " HTTP/1.1\r\nHost: x\r\n" +
                      (key.empty() ? "" : "Authorization: Bearer " + key + "\r\n") + "\r\n");
  };
  EXPECT_EQ(ask("GET", "/v1/things/1", "").status, 401);
  EXPECT_TRUE(ask("GET", "/v1/things/1", "wrong").headers.find("WWW-Authenticate"));
  EXPECT_EQ(ask("GET", "/v1/nowhere", "").status, 401);
  EXPECT_EQ(ask("GET", "/v1/nowhere", "viewer").status, 404);
  EXPECT_EQ(ask("GET", "/nowhere", "").status, 404);
  EXPECT_EQ(ask("DELETE", "/v1/things/1", "viewer").status, 403);
  EXPECT_EQ(ask("DELETE", "/v1/things/1", "developer").status, 204);
  const Reply wrong = ask("PUT", "/v1/things/1", "viewer");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(code(wrong), "invalid");
  EXPECT_EQ(wrong.headers.find("Allow"), "GET, HEAD, DELETE");
  EXPECT_EQ(ask("TRACE", "/v1/things/1", "viewer").status, 405);
  EXPECT_EQ(ask("PUT", "/v1/things/1", "stranger").status, 405);
  EXPECT_EQ(ask("GET", "/v1/things/1", "stranger").status, 404);
  EXPECT_EQ(ask("PUT", "/v1/things/1", "wrong").status, 401);
}

TEST(Server, TakesOnlyOneOfWhatSaysWhoAsksForWhat) {
  LiveServer server(server_table());
  RawClient client(server.port());
  for (const std::string name :
       {"Authorization", "X-API-Key", "X-Sandgate-Tenant", "X-Sandgate-Via", "Idempotency-Key"}) {
    const Reply reply = client.ask(get("/v1/things/1", name + ": a\r\n" + name + ": b\r\n"));
    EXPECT_EQ(reply.status, 400) << name;
    EXPECT_EQ(Json::parse(reply.body)["fields"][0]["path"], "/" + name);
  }
  EXPECT_EQ(client.ask(get("/v1/things/1", "Accept: a\r\nAccept: b\r\n")).status, 200);
}

size_t times_in(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Server, LogsEachAnswerThatIsItsOwnFailure) {
  LiveServer server(server_table());
  RawClient client(server.port());
  testing::internal::CaptureStderr();
  const Reply reply = client.ask(
      "GET /v1/fail?hidden=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n"
      "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n\r\n");
  EXPECT_EQ(client.ask(get("/hello")).status, 200);
  EXPECT_EQ(client.ask(get("/nowhere")).status, 404);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(times_in(text, "answered"), 1u) << text;
  for (const std::string& part :
       {"request_id=\"" + std::string(*reply.headers.find("X-Request-Id")) + "\"",
        std::string("trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\""),
        "tenant=\"" + test::WordAuthenticator::kTenant.value + "\"", std::string("method=\"GET\""),
        std::string("route=\"/v1/fail\""), std::string("status=500"),
        std::string("code=\"internal\""), std::string("ms=")})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  EXPECT_EQ(text.find("hidden"), std::string::npos);
  EXPECT_EQ(text.find("Bearer"), std::string::npos);
}

TEST(Server, NobodyFillsTheLogWithFailures) {
  LiveServer server(server_table());
  RawClient client(server.port());
  const auto began = std::chrono::steady_clock::now();
  testing::internal::CaptureStderr();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.ask(get("/v1/fail")).status, 500);
  const std::string text = testing::internal::GetCapturedStderr();
  const size_t seconds = (std::chrono::steady_clock::now() - began) / std::chrono::seconds(1) + 1;
  EXPECT_GE(times_in(text, "answered"), 10u);
  EXPECT_LE(times_in(text, "answered"), 10 * seconds) << text;
}

TEST(Server, RefusesABodyWhereNoneBelongs) {
  LiveServer server(server_table());
  RawClient client(server.port());
  EXPECT_EQ(client.ask(get("/hello", "Content-Length: 0\r\n")).status, 200);
  EXPECT_EQ(client.ask(get("/hello", "Content-Length: 2\r\n") + "[]").status, 400);
  EXPECT_EQ(client.ask(get("/hello")).status, 200);
}

TEST(Server, HidesWhyAHandlerFailed) {
  LiveServer server(server_table());
  RawClient client(server.port());
  const Reply reply = client.ask(get("/v1/fail"));
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(code(reply), "internal");
  EXPECT_EQ(reply.body.find("secret"), std::string::npos);
  EXPECT_EQ(client.ask(get("/hello")).status, 200);
}

TEST(Server, LetsNoHeaderValueEndItsLine) {
  LiveServer server(server_table());
  RawClient client(server.port());
  const Reply reply = client.ask(get("/v1/inject"));
  EXPECT_FALSE(reply.headers.find("Set-Cookie"));
  EXPECT_EQ(reply.headers.find("X-Name"), "a  Set-Cookie: b");
}

TEST(Server, SpeaksHttp10) {
  LiveServer server(server_table());
  RawClient client(server.port());
  EXPECT_EQ(client.ask("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                .headers.find("Connection"),
            "keep-alive");
  EXPECT_EQ(client.ask("GET /hello HTTP/1.0\r\n\r\n").status, 200);
  EXPECT_TRUE(client.ended());
}

TEST(Server, CountsAnswersByRoute) {
  LiveServer server(server_table());
  RawClient client(server.port());
  client.ask(get("/hello"));
  client.ask(get("/nowhere"));
  MetricText metrics;
  server.metrics.render(metrics);
  const std::string& text = metrics.str();
  EXPECT_NE(
      text.find("sandgate_http_requests_total{method=\"GET\",route=\"/hello\",status=\"2xx\"} 1"),
      std::string::npos);
  EXPECT_NE(text.find("sandgate_http_requests_total{method=\"\",route=\"\",status=\"4xx\"} 1"),
            std::string::npos);
  EXPECT_NE(text.find("route=\"/hello\",le=\"+Inf\"} 1"), std::string::npos);
}

TEST(Server, ExplainsATakenPort) {
  LiveServer server(server_table());
  http::ServerOptions options;
  options.port = server.port();
  options.bind_timeout = std::chrono::milliseconds(1);
  http::Server second(server.io, server.dispatcher, options);
  try {
    second.start();
    FAIL() << "bound twice";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(std::to_string(server.port())), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("another"), std::string::npos);
  }
}

}  // namespace
}  // namespace sandgate
