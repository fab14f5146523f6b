#include "gateway/http/connection_quota.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

#include "tests/http/live_server.hpp"

// What one tenant may hold of all connections, whatever it holds them with.
namespace sandgate {
namespace {

using http::BodyMode;
using http::ConnectionQuota;
using http::Method;
using http::Permission;
using http::Request;
using http::Requester;
using http::Response;
using test::eventually;
using test::get;
using test::LiveServer;
using test::RawClient;
using test::says;

using Held = std::vector<std::shared_ptr<void>>;

// As many as it gets.
size_t take_all(ConnectionQuota& quota, const TenantId& tenant, Requester requester, Held& held) {
  size_t count = 0;
  while (auto token = quota.acquire(tenant, requester)) {
    held.push_back(std::move(token));
    ++count;
  }
  return count;
}

TEST(ConnectionQuota, ATenantHoldsAsManyAsItLeavesFree) {
  ConnectionQuota quota(90);
  const TenantId one = TenantId::make(), two = TenantId::make(), three = TenantId::make();
  Held of_one, of_two;
  EXPECT_EQ(take_all(quota, one, Requester::caller, of_one), 45);
  EXPECT_EQ(take_all(quota, two, Requester::caller, of_two), 22);
  EXPECT_TRUE(quota.acquire(three, Requester::caller));
  of_one.clear();
  EXPECT_EQ(take_all(quota, two, Requester::caller, of_two), 23) << "a half, once it is alone";
}

TEST(ConnectionQuota, VisitorsLeaveSomeToTheTenantsCallers) {
  ConnectionQuota quota(80);
  const TenantId tenant = TenantId::make();
  Held visitors, callers;
  EXPECT_EQ(take_all(quota, tenant, Requester::visitor, visitors), 33);
  EXPECT_EQ(take_all(quota, tenant, Requester::caller, callers), 7);
  EXPECT_FALSE(quota.acquire(tenant, Requester::visitor));
}

TEST(ConnectionQuota, OneIsAlwaysThere) {
  ConnectionQuota quota(1);
  const TenantId tenant = TenantId::make(), other = TenantId::make();
  const auto held = quota.acquire(tenant, Requester::visitor);
  EXPECT_TRUE(held);
  EXPECT_FALSE(quota.acquire(tenant, Requester::caller));
  EXPECT_TRUE(quota.acquire(other, Requester::caller));
}

TEST(ConnectionQuota, ALoweredNumberEndsNothing) {
  ConnectionQuota quota(8);
  const TenantId tenant = TenantId::make();
  Held held;
  EXPECT_EQ(take_all(quota, tenant, Requester::caller, held), 4);
  quota.set_limit(2);
  held.pop_back();
  EXPECT_FALSE(quota.acquire(tenant, Requester::caller));
  quota.set_limit(8);
  EXPECT_TRUE(quota.acquire(tenant, Requester::caller));
}

// Holds tenants to their quota, and nothing else.
class QuotaOnly final : public http::Admission {
 public:
  explicit QuotaOnly(size_t most) : quota(most) {}
  void admit(const http::Caller&, const http::Route&) override {}
  std::shared_ptr<void> hold_connection(const http::Caller& caller, Requester requester) override {
    if (!caller.tenant) return nullptr;
    auto token = quota.acquire(*caller.tenant, requester);
    if (token) ++given;
    if (token) return token;
    Error error(ErrorCode::rate_limited, "too many");
    error.retry_after = std::chrono::seconds(1);
    throw error;
  }

  ConnectionQuota quota;
  std::atomic<int> given{0};
};

std::string with_key(std::string_view word) {
  return "Authorization: Bearer " + std::string(word) + "\r\n";
}

http::Routes busy_table() {
  http::Routes routes;
  routes.add({Method::get, "/v1/quick", Permission::read, BodyMode::none, says("quick")});
  routes.add({Method::post, "/v1/json", Permission::use_sandboxes, BodyMode::buffered,
              [](Request& request) -> Task<Response> {
                co_return Response::json(200, Json{{"bytes", request.body.size()}});
              }});
  routes.add({Method::post, "/v1/upload", Permission::use_sandboxes, BodyMode::streamed,
              [](Request& request) -> Task<Response> {
                std::array<char, 1000> bytes;
                while (co_await request.stream->read(bytes) > 0) {
                }
                co_return Response::empty(204);
              }});
  routes.add(
      {Method::get, "/v1/stream", Permission::read, BodyMode::none, [](Request&) -> Task<Response> {
         Response response;
         response.body = http::StreamBody{.produce = [](http::BodySink& sink) -> Task<void> {
           co_await sink.write(std::string_view("begin"));
           co_await sleep_for(std::chrono::seconds(60));
         }};
         co_return response;
       }});
  return routes;
}

std::string half_body(std::string_view path, size_t length = 1000) {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n" + with_key("developer") +
         "Content-Length: " + std::to_string(length) + "\r\n\r\n{";
}

std::string ask_quickly(std::string_view word) {
  return "GET /v1/quick HTTP/1.1\r\nHost: x\r\n" + with_key(word) + "\r\n";
}

TEST(TenantsQuota, CountStreamsAndBodiesTogether) {
  QuotaOnly admission(8);
  LiveServer server(busy_table(), {}, &admission);
  std::vector<std::unique_ptr<RawClient>> busy;
  for (int i = 0; i < 2; ++i) {
    busy.push_back(std::make_unique<RawClient>(server.port()));
    busy.back()->send("GET /v1/stream HTTP/1.1\r\nHost: x\r\n" + with_key("viewer") + "\r\n");
    busy.push_back(std::make_unique<RawClient>(server.port()));
    busy.back()->send(half_body(i == 0 ? "/v1/json" : "/v1/upload"));
  }
  // The four hold all that the tenant may hold.
  ASSERT_TRUE(eventually([&] { return admission.given == 4; }));
  RawClient client(server.port());
  const test::Reply refused = client.ask(ask_quickly("viewer"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.headers.find("Retry-After"), "1");
  EXPECT_EQ(refused.headers.find("Connection"), "close");
  client.shutdown_send();
  EXPECT_TRUE(client.ended());
  RawClient other(server.port());
  EXPECT_EQ(other.ask(ask_quickly("operator")).status, 200) << "it belongs to no tenant";
  busy.clear();
  EXPECT_TRUE(eventually([&] {
    RawClient again(server.port());
    return again.ask(ask_quickly("viewer")).status == 200;
  }));
}

TEST(TenantsQuota, WhoIsUnknownIsRefusedBeforeItsBody) {
  QuotaOnly admission(8);
  LiveServer server(busy_table(), {}, &admission);
  RawClient client(server.port());
  EXPECT_EQ(client.ask("POST /v1/json HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{").status,
            401);
}

// Sends one byte each 50 ms until the server ends the connection; how long that took, in all 20 s
// at most.
std::chrono::milliseconds drip(RawClient& client, std::string_view byte) {
  const auto begin = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 begin);
  };
  try {
    while (passed() < std::chrono::seconds(20)) {
      client.send(byte);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  } catch (const std::exception&) {
    // Ended.
  }
  return passed();
}

http::ServerOptions impatient() {
  http::ServerOptions options;
  options.limits.whole_body = {std::chrono::milliseconds(400), 64 << 10};
  options.limits.upload = {std::chrono::milliseconds(400), 1 << 10};
  return options;
}

TEST(SlowBodies, EndWithTheirConnections) {
  LiveServer server(busy_table(), impatient());
  for (const char* path : {"/v1/json", "/v1/upload"}) {
    RawClient client(server.port());
    client.send(half_body(path, 100'000));
    const auto lived = drip(client, " ");
    EXPECT_GE(lived, std::chrono::milliseconds(300)) << path;
    EXPECT_LT(lived, std::chrono::seconds(10)) << path;
  }
}

TEST(SlowBodies, AreToldThatTheyAreTooSlow) {
  http::ServerOptions options = impatient();
  options.limits.body_timeout = std::chrono::milliseconds(200);
  for (const auto& wanted : {impatient(), options}) {
    LiveServer server(busy_table(), wanted);
    for (const char* path : {"/v1/json", "/v1/upload"}) {
      RawClient client(server.port());
      const auto told = client.ask(half_body(path, 100'000));
      EXPECT_EQ(told.status, 408) << path;
      EXPECT_EQ(Json::parse(told.body)["code"], "timeout") << path;
      EXPECT_TRUE(client.ended());
    }
  }
}

TEST(SlowBodies, FastEnoughOnesTakeTheTimeTheyNeed) {
  http::ServerOptions options = impatient();
  options.limits.upload.patience = std::chrono::seconds(1);
  LiveServer server(busy_table(), options);
  RawClient client(server.port());
  constexpr int kPieces = 30;
  const std::string piece(1000, ' ');  // each worth as much patience as it uses up, and more
  client.send(half_body("/v1/upload", 1 + kPieces * piece.size()));
  for (int i = 0; i < kPieces; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    client.send(piece);
  }
  EXPECT_EQ(client.receive().status, 204);
}

// Many clients say of each request how long its body is.
TEST(SlowBodies, WhereNoneIsTakenOneOfNoLengthIsNone) {
  LiveServer server(busy_table());
  const auto status_of = [&](std::string_view length, std::string_view body) {
    RawClient client(server.port());
    return client
        .ask("GET /v1/quick HTTP/1.1\r\nHost: x\r\n" + with_key("viewer") +
             "Content-Length: " + std::string(length) + "\r\n\r\n" + std::string(body))
        .status;
  };
  EXPECT_EQ(status_of("0", ""), 200);
  EXPECT_EQ(status_of("2", "[]"), 400);
  EXPECT_EQ(status_of("1000", ""), 400) << "without waiting for it";
}

}  // namespace
}  // namespace sandgate
