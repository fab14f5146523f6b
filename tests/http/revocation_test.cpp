#include "gateway/http/revocation.hpp"

#include <gtest/gtest.h>

#include "gateway/http/dispatch.hpp"
#include "tests/support/run.hpp"

// Uploads whose caller loses access before their end.
namespace sandgate::http {
namespace {

using sandgate::test::run;

// Access that may be lost: the key's or the tenant's.
struct LosableAccess : Authenticator, Admission {
  Task<Caller> authenticate(const Request&) override {
    if (revoked) throw Error(ErrorCode::unauthenticated, "this API key is not valid");
    co_return Caller{.role = Role::developer};
  }
  void admit(const Caller&, const Route&) override {}
  bool may_continue(const Caller&, const Route&) const override { return !suspended; }

  bool revoked = false, suspended = false;
};

// A byte every 10 ms, for a minute.
struct SlowBody final : IncomingBody {
  bool ended() const override { return left == 0; }
  std::optional<uint64_t> length() const override { return std::nullopt; }
  bool broken() const override { return false; }
  Task<void> send_continue() override { co_return; }
  Task<size_t> read(std::span<char> into) override {
    if (left == 0) co_return 0;
    co_await sleep_for(std::chrono::milliseconds(10));
    --left;
    into.front() = 'x';
    co_return 1;
  }
  int left = 6000;
};

struct Upload : testing::Test {
  // The answer to an upload during which `happens` is called.
  Response answer(std::function<void()> happens, Permission permission) {
    auto takes = [happens](Request& request) -> Task<Response> {
      std::array<char, 16> bytes;
      happens();
      while (co_await request.stream->read(bytes) > 0) {
      }
      co_return Response::empty(204);
    };
    Routes routes;
    routes.add({Method::post, "/takes", permission, BodyMode::streamed, takes});
    Dispatcher dispatcher(routes, {.authenticator = access, .admission = &access});
    Request request;
    request.method = Method::post;
    request.target = request.path = "/takes";
    return run(dispatcher.respond(request, body));
  }

  LosableAccess access;
  SlowBody body;
};

TEST_F(Upload, EndsWhenItsKeyIsRevoked) {
  EXPECT_EQ(answer([this] { access.revoked = true; }, Permission::use_sandboxes).status, 401);
  EXPECT_GT(body.left, 0);
}

TEST_F(Upload, EndsWhenItsTenantIsSuspended) {
  EXPECT_EQ(answer([this] { access.suspended = true; }, Permission::use_sandboxes).status, 403);
  EXPECT_GT(body.left, 0);
}

TEST_F(Upload, IsTakenWholeWhileAccessLasts) {
  body.left = 120;  // longer than until the first look at the access
  EXPECT_EQ(answer([] {}, Permission::use_sandboxes).status, 204);
  EXPECT_EQ(body.left, 0);
}

TEST_F(Upload, NeedsNoAccessWhereNoneIsNeeded) {
  body.left = 120;
  EXPECT_EQ(answer([this] { access.revoked = true; }, Permission::open).status, 204);
}

}  // namespace
}  // namespace sandgate::http
