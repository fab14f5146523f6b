#include <gtest/gtest.h>

#include "gateway/http/dispatch.hpp"
#include "tests/http/live_server.hpp"
#include "tests/support/run.hpp"

// What a handler asks of another route, and a suspension meanwhile.
namespace sandgate::http {
namespace {

using sandgate::test::run;
using sandgate::test::WordAuthenticator;

class Suspending : public Admission {
 public:
  void admit(const Caller&, const Route&) override {}
  bool may_continue(const Caller&, const Route&) const override { return !suspended; }
  bool suspended = false;
};

struct Subrequest : testing::Test {
  Response ask(Handler handler) {
    Routes routes;
    routes.add({Method::post, "/works", Permission::open, BodyMode::none, std::move(handler)});
    WordAuthenticator authenticator;
    Dispatcher dispatcher(routes, {.authenticator = authenticator, .admission = &admission});
    Request request;
    request.method = Method::post;
    request.target = request.path = "/works";
    return run(dispatcher.subrequest(request));
  }
  Suspending admission;
};

TEST_F(Subrequest, EndsWithTheTenantsSuspension) {
  const auto suspends = [this](Request&) -> Task<Response> {
    admission.suspended = true;
    co_await sleep_for(std::chrono::hours(1));
    co_return Response::empty(204);
  };
  try {
    ask(suspends);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::forbidden);
  }
}

TEST_F(Subrequest, WhatIsDoneByThenIsAnswered) {
  const auto finishes = [this](Request&) -> Task<Response> {
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    admission.suspended = true;
    co_await sleep_for(std::chrono::milliseconds(10));
    co_return Response::empty(204);
  };
  EXPECT_EQ(ask(finishes).status, 204);
}

}  // namespace
}  // namespace sandgate::http
