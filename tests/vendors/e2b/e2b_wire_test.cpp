#include "providers/e2b/e2b_wire.hpp"

#include <gtest/gtest.h>

namespace sandgate::e2b {
namespace {

TEST(E2bWire, ACreateCarriesOurIdAndThePolicy) {
  CreateSpec spec{.sandbox_id = "sb1", .ttl = std::chrono::seconds(90), .metadata = {{"a", "b"}}};
  Json body = to_create(spec, "base");
  EXPECT_EQ(body["templateID"], "base");
  EXPECT_EQ(body["timeout"], 90);
  EXPECT_EQ(body["secure"], true);
  EXPECT_EQ(body["allow_internet_access"], false);
  EXPECT_EQ(body["metadata"], (Json{{"a", "b"}, {"sandgate_id", "sb1"}}));
  spec.network.fallback = NetworkDefault::allow;
  spec.snapshot = "snap";
  body = to_create(spec, "base");
  EXPECT_EQ(body["allow_internet_access"], true);
  EXPECT_EQ(body["templateID"], "snap");
  // A rule that would not be kept is refused instead of widened.
  spec.network = {NetworkDefault::deny, {"example.com:443"}};
  EXPECT_THROW(to_create(spec, "base"), Error);
}

TEST(E2bWire, EventsAreReadInEveryFormOfTheirNumbers) {
  EXPECT_EQ(to_event(Json::parse(R"({"event":{"start":{"pid":7}}})")).pid, 7);
  const auto text = to_event(Json::parse(R"({"event":{"data":{"stderr":"aGk="}}})"));
  EXPECT_EQ(text.channel, Channel::stderr_);
  EXPECT_EQ(text.bytes, "hi");
  // Zero values are left out.
  EXPECT_EQ(to_event(Json::parse(R"({"event":{"end":{"exited":true}}})")).status, 0);
  EXPECT_EQ(to_event(Json::parse(R"({"event":{"end":{"exitCode":-1}}})")).status, 137);
  EXPECT_EQ(to_event(Json::parse(R"({"event":{"keepalive":{}}})")).kind, StartEvent::other);
  EXPECT_EQ(to_entry(Json::parse(R"({"path":"/a","type":"FILE_TYPE_FILE","size":"12"})")).size,
            12u);
}

TEST(E2bWire, HostileAnswersAreErrors) {
  for (const char* text :
       {R"({})", R"({"event":7})", R"({"event":{"data":{"stdout":"%"}}})",
        R"({"event":{"data":{"stdout":7}}})", R"({"event":{"start":{"pid":"x"}}})"})
    EXPECT_THROW(to_event(Json::parse(text)), Error) << text;
  EXPECT_THROW(to_sandbox(Json::parse(R"({"sandboxID":7})"), Isolation::microvm, ""), Error);
  EXPECT_THROW(to_access(Json::parse(R"({"domain":"evil/@x"})")), Error);
}

TEST(E2bWire, WhatTheAccountMayNotDoSaysNothingOfTheKey) {
  const HttpReply forbidden{403, {}, R"({"message":"Team does not have access to the template"})"};
  EXPECT_EQ(read_error("e2b", forbidden).code, ErrorCode::no_capacity);
  EXPECT_TRUE(are_credentials_refused(read_error("e2b", {401, {}, "{}"})));
}

TEST(E2bWire, TheProxyKnowsASandboxThatIsGoneFromAPortThatIsClosed) {
  const auto code = [](int status, const char* body) {
    return read_sandbox_error("e2b", {status, {}, body}).code;
  };
  EXPECT_EQ(code(502, R"({"sandboxId":"i1","code":502})"), ErrorCode::not_found);
  EXPECT_EQ(code(502, R"({"sandboxId":"i1","code":502,"port":49983})"), ErrorCode::unavailable);
  EXPECT_EQ(code(502, "<html>"), ErrorCode::unavailable);
  EXPECT_EQ(code(404, R"({"code":"not_found"})"), ErrorCode::not_found);
}

}  // namespace
}  // namespace sandgate::e2b
