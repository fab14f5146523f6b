#include <gtest/gtest.h>

#include "gateway/http/dispatch.hpp"
#include "tests/http/live_server.hpp"
#include "tests/support/no_body.hpp"
#include "tests/support/run.hpp"

// What is told of a request that is wrong, by whether what it names is there.
namespace sandgate::http {
namespace {

using sandgate::test::run;

class OneThing : public ExistenceCheck {
 public:
  Task<void> check(const Request& request) override {
    ++checks;
    if (failure) throw *failure;
    if (request.param("id") != "there") throw Error::not_found("thing", request.param("id"));
    co_return;
  }
  int checks = 0;
  std::optional<Error> failure;
};

struct ExistenceCheckTest : testing::Test {
  int ask(Error thrown, const std::string& path, const std::string& more = "",
          const std::string& role = "developer") {
    const auto fails = [thrown](Request&) -> Task<Response> {
      throw thrown;
      co_return Response();
    };
    Routes routes;
    for (const char* pattern : {"/v1/things", "/v1/things/{id}"})
      routes.add({Method::post, pattern, Permission::use_sandboxes, BodyMode::none, fails});
    test::WordAuthenticator authenticator;
    Dispatcher dispatcher(routes,
                          {.authenticator = authenticator, .existence_check = &existence_check});
    Request request;
    request.method = Method::post;
    request.target = request.path = path;
    request.headers.add("Authorization", "Bearer " + role);
    if (!more.empty()) request.headers.add("Authorization", more);
    test::NoBody body;
    return run(dispatcher.respond(request, body)).status;
  }
  OneThing existence_check;
  const Error invalid = Error::invalid("/a", "is wrong");
};

TEST_F(ExistenceCheckTest, WhatIsMissingIsToldBeforeWhatIsWrong) {
  EXPECT_EQ(ask(invalid, "/v1/things/gone"), 404);
  EXPECT_EQ(ask(Error(ErrorCode::too_large, "large"), "/v1/things/gone"), 404);
  EXPECT_EQ(ask(invalid, "/v1/things/there"), 400);
  EXPECT_EQ(ask(Error(ErrorCode::too_large, "large"), "/v1/things/there"), 413);
}

TEST_F(ExistenceCheckTest, IsAskedOfNothingElse) {
  EXPECT_EQ(ask(invalid, "/v1/things"), 400);
  EXPECT_EQ(ask(Error(ErrorCode::conflict, "not now"), "/v1/things/gone"), 409);
  EXPECT_EQ(ask(Error(ErrorCode::forbidden, "not you"), "/v1/things/gone"), 403);
  EXPECT_EQ(ask(invalid, "/v1/things/gone", "", "viewer"), 403);
  EXPECT_EQ(ask(invalid, "/v1/things/gone", "", "nobody"), 401);
  EXPECT_EQ(ask(invalid, "/v1/things/gone", "Bearer admin"), 400) << "nobody knows who asks";
  EXPECT_EQ(existence_check.checks, 0);
}

TEST_F(ExistenceCheckTest, ThatCannotBeToldTakeNothingFromWhatIsKnown) {
  existence_check.failure = Error(ErrorCode::unavailable, "the database is away");
  EXPECT_EQ(ask(invalid, "/v1/things/gone"), 400);
  EXPECT_EQ(existence_check.checks, 1);
}

}  // namespace
}  // namespace sandgate::http
