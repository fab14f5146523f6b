#include "gateway/http/body_room.hpp"

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
  Task<void> invite() override { co_return; }
  Task<size_t> read(std::span<char> into) override {
    const size_t count = std::min(into.size(), left_);
    std::fill_n(into.begin(), count, 'x');
    left_ -= count;
    co_return count;
  }

 private:
  size_t left_;
};

TEST(BodyRoom, MayBeAskedForWithoutAnError) {
  BodyRoom room({.free = 10, .all = 100, .of_one = 100});
  BodyRoom::Seat seat(room, "a");
  EXPECT_TRUE(seat.try_grow_to(100));
  EXPECT_FALSE(seat.try_grow_to(101));
  EXPECT_TRUE(seat.try_grow_to(100)) << "what it has it keeps";
}

TEST(BodyRoom, IsSharedAndGivenBack) {
  BodyRoom room({.free = 10, .all = 300, .of_one = 200});
  auto one = std::make_unique<BodyRoom::Seat>(room, "a");
  one->grow_to(100);
  one->grow_to(150);
  one->grow_to(20);  // never smaller
  BodyRoom::Seat two(room, "a"), three(room, "b");
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
  BodyRoom room{{.free = 1000, .all = 300'000, .of_one = 300'000}};
  Dispatcher dispatcher{routes,
                        {.authenticator = authenticator, .body_bytes = 2000, .body_room = &room}};
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
