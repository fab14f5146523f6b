#include "gateway/http/body_memory_quota.hpp"

#include <gtest/gtest.h>

#include "tests/http/live_server.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

namespace sandgate::http {
namespace {

using test::code_of;
using test::run;

// So many bytes, without saying how many.
class Bytes : public IncomingBody {
 public:
  explicit Bytes(size_t left) : left_(left) {}
  bool ended() const override { return left_ == 0; }
  std::optional<uint64_t> length() const override { return std::nullopt; }
  bool broken() const override { return false; }
  Task<void> send_continue() override { co_return; }
  Task<size_t> read(std::span<char> into) override {
    const size_t count = std::min(into.size(), left_);
    std::fill_n(into.begin(), count, 'x');
    left_ -= count;
    co_return count;
  }

 private:
  size_t left_;
};

TEST(BodyMemoryQuota, MayBeAskedForWithoutAnError) {
  BodyMemoryQuota quota({.uncounted = 10, .total = 100, .per_tenant = 100});
  BodyMemoryQuota::Reservation reservation(quota, "a");
  EXPECT_TRUE(reservation.try_grow_to(100));
  EXPECT_FALSE(reservation.try_grow_to(101));
  EXPECT_TRUE(reservation.try_grow_to(100)) << "what it has it keeps";
}

TEST(BodyMemoryQuota, IsSharedAndGivenBack) {
  BodyMemoryQuota quota({.uncounted = 10, .total = 300, .per_tenant = 200});
  auto one = std::make_unique<BodyMemoryQuota::Reservation>(quota, "a");
  one->grow_to(100);
  one->grow_to(150);
  one->grow_to(20);  // never smaller
  BodyMemoryQuota::Reservation two(quota, "a"), three(quota, "b");
  two.grow_to(10);  // small ones are free
  EXPECT_EQ(code_of([&] { two.grow_to(51); }), ErrorCode::rate_limited);
  two.grow_to(50);
  EXPECT_EQ(code_of([&] { three.grow_to(101); }), ErrorCode::unavailable);
  three.grow_to(100);
  one.reset();
  three.grow_to(200);
  two.grow_to(100);
}

// The dispatcher's part, without a socket.
struct BodyLimits : testing::Test {
  BodyLimits() {
    const auto echo = [this](Request& request) -> Task<Response> {
      seen = request.body.size();
      if (during) during();
      co_return Response::empty(204);
    };
    routes.add({.method = Method::post,
                .pattern = "/v1/small",
                .permission = Permission::use_sandboxes,
                .body = BodyMode::buffered,
                .handler = echo});
    routes.add({.method = Method::post,
                .pattern = "/v1/large",
                .permission = Permission::use_sandboxes,
                .body = BodyMode::buffered,
                .handler = echo,
                .max_body_bytes = 1 << 20});
  }
  int post(const std::string& path, size_t bytes) {
    Request request;
    request.method = Method::post;
    request.target = request.path = path;
    request.headers.add("Authorization", "Bearer developer");
    Bytes body(bytes);
    return run(dispatcher.respond(request, body)).status;
  }

  Routes routes;
  test::WordAuthenticator authenticator;
  BodyMemoryQuota quota{{.uncounted = 1000, .total = 300'000, .per_tenant = 300'000}};
  Dispatcher dispatcher{
      routes, {.authenticator = authenticator, .body_bytes = 2000, .body_memory = &quota}};
  std::function<void()> during;
  size_t seen = 0;
};

TEST_F(BodyLimits, TheSettingIsThatOfRoutesThatSayNothing) {
  EXPECT_EQ(post("/v1/small", 2000), 204);
  EXPECT_EQ(seen, 2000u);
  EXPECT_EQ(post("/v1/small", 2001), 413);
  EXPECT_EQ(post("/v1/large", 2001), 204);
}

TEST_F(BodyLimits, RoomIsHeldWhileTheHandlerRuns) {
  int second = 0;
  during = [&] {
    during = nullptr;
    second = post("/v1/large", 200'000);
  };
  EXPECT_EQ(post("/v1/large", 200'000), 204);
  EXPECT_EQ(second, 429);
  EXPECT_EQ(post("/v1/large", 200'000), 204);
  EXPECT_EQ(post("/v1/large", 400'000), 429) << "told while it is read";
}

}  // namespace
}  // namespace sandgate::http
