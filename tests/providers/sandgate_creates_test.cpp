#include <gtest/gtest.h>

#include "providers/sandgate/sandgate.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"

namespace sandgate {
namespace {

using std::chrono::seconds;

// The error of a create to which the other gateway answers with this problem.
Error refusal_of_create(int status, const std::string& code) {
  test::LiveLoop loop;
  test::ScriptedClient client;
  const Json problem{{"code", code},
                     {"detail", "no"},
                     {"fields", {{{"path", "/env"}, {"message", "is not allowed"}}}}};
  client.always({status, {{"Retry-After", "30"}}, problem.dump()});
  auto provider = std::make_shared<SandgateProvider>(
      client, loop.executor(), SandgateSettings{"http://inner", "p", Secret("k"), true});
  CreateSpec spec{.sandbox_id = "sb1"};
  const auto outcome = loop.run(attempt(provider->create(std::move(spec))));
  const auto* error = std::get_if<Error>(&outcome);
  return error ? *error : Error(ErrorCode::internal, "the create succeeded");
}

TEST(CreatesAtAGateway, WhatItNeverMakesIsUnsupported) {
  for (const auto& [status, code] : std::map<int, std::string>{
           {400, "invalid"}, {404, "not_found"}, {413, "too_large"}, {422, "unsupported"}}) {
    const Error error = refusal_of_create(status, code);
    EXPECT_EQ(error.code, ErrorCode::unsupported) << code;
    EXPECT_STREQ(error.what(), "no") << code;
    EXPECT_TRUE(error.fields.empty()) << "the paths are of its request, not of our caller's";
  }
  EXPECT_EQ(refusal_of_create(429, "quota_exceeded").code, ErrorCode::no_capacity);
  EXPECT_EQ(refusal_of_create(409, "conflict").code, ErrorCode::no_capacity);
}

TEST(CreatesAtAGateway, OnlyWaitsThatConcernAllCreatesAreOfTheDeployment) {
  EXPECT_EQ(refusal_of_create(429, "rate_limited").retry_after, seconds(30));
  EXPECT_EQ(refusal_of_create(503, "unavailable").retry_after, seconds(30));
  EXPECT_FALSE(refusal_of_create(503, "no_capacity").retry_after);
  EXPECT_FALSE(refusal_of_create(504, "timeout").retry_after);
}

}  // namespace
}  // namespace sandgate
