#include "gateway/api/with_failure_cause.hpp"

#include <gtest/gtest.h>

#include "tests/support/run.hpp"

namespace sandgate::api {
namespace {

// Takes every failure for what it says.
struct Believer {};
Task<Error> translate_failure(Believer&, TenantId, SandboxId, Error failure) { co_return failure; }

Task<http::Response> fails(ErrorCode code) {
  throw Error(code, "no");
  co_return http::Response::empty(204);
}

Error told(ErrorCode code, bool suspended = false) {
  Believer judge;
  http::Request request;
  request.params["id"] = SandboxId::make().value;
  request.caller = {.tenant = TenantId::make(), .suspended = suspended};
  try {
    test::run(with_failure_cause(judge, request, fails(code)));
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::internal, "nothing was thrown");
}

TEST(WithFailureCause, SaysWhenItIsTheSandboxThatForbids) {
  const Error forbidden = told(ErrorCode::forbidden);
  EXPECT_EQ(forbidden.code, ErrorCode::forbidden);
  ASSERT_TRUE(forbidden.details.is_object());
  EXPECT_EQ(forbidden.details["refused_by"], "sandbox");
  EXPECT_TRUE(told(ErrorCode::forbidden, /*suspended=*/true).details.is_null());
  EXPECT_TRUE(told(ErrorCode::not_found).details.is_null());
}

}  // namespace
}  // namespace sandgate::api
