#include "providers/transport/rest_api.hpp"

#include <gtest/gtest.h>

#include "providers/sandgate/sandgate.hpp"
#include "providers/sandgate/sandgate_wire.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/run.hpp"
#include "tests/support/scripted_client.hpp"

namespace sandgate {
namespace {

TEST(RestApi, StatusesBecomeWhatTheCallerCanDo) {
  const auto code = [](int status) { return error_of_status("x", status, {}).code; };
  EXPECT_EQ(code(400), ErrorCode::invalid);
  EXPECT_EQ(code(401), ErrorCode::unavailable);
  EXPECT_EQ(code(402), ErrorCode::no_capacity);
  EXPECT_EQ(code(404), ErrorCode::not_found);
  EXPECT_EQ(error_of_status("x", 404, {{"Content-Type", "text/html; charset=utf-8"}}).code,
            ErrorCode::unavailable);
  EXPECT_EQ(code(409), ErrorCode::conflict);
  EXPECT_EQ(code(429), ErrorCode::rate_limited);
  EXPECT_EQ(code(500), ErrorCode::unavailable);
  EXPECT_EQ(code(302), ErrorCode::unavailable);
  EXPECT_TRUE(are_credentials_refused(error_of_status("x", 401, {})));
  EXPECT_TRUE(are_credentials_refused(error_of_status("x", 403, {})));
  EXPECT_FALSE(are_credentials_refused(error_of_status("x", 500, {})));
}

TEST(RestApi, RetryAfterIsSecondsOrADate) {
  const auto after = [](std::string text) {
    return error_of_status("x", 429, {{"retry-after", text}}).retry_after;
  };
  EXPECT_EQ(after("3"), std::chrono::seconds(3));
  EXPECT_EQ(after("-3"), std::chrono::seconds(0));
  EXPECT_EQ(after("Wed, 21 Oct 2015 07:28:00 GMT"), std::chrono::seconds(0));
  EXPECT_FALSE(after("soon"));
  EXPECT_EQ(error_of_status("x", 401, {{"retry-after", "3"}}).retry_after, std::chrono::seconds(3));
  EXPECT_EQ(error_of_status("x", 403, {{"retry-after", "3"}}).retry_after, std::chrono::seconds(3));
  EXPECT_EQ(after("99999999999999999999"), std::chrono::hours(1));
  EXPECT_EQ(after("-99999999999999999999"), std::chrono::seconds(0));
}

TEST(RestApi, RetryAfterMsIsInMilliseconds) {
  const auto after = [](HttpFields fields) {
    return error_of_status("x", 429, std::move(fields)).retry_after;
  };
  EXPECT_EQ(after({{"retry-after-ms", "1500"}}), std::chrono::milliseconds(1500));
  EXPECT_EQ(after({{"Retry-After-Ms", "1500"}, {"Retry-After", "2"}}), std::chrono::seconds(2));
  EXPECT_EQ(after({{"retry-after-ms", "99999999999"}}), std::chrono::hours(1));
}

TEST(RestApi, TheLongestOfSeveralTimesToWaitCounts) {
  const Error error = error_of_status(
      "x", 429, {{"Retry-After-Create", "7"}, {"retry-after", "3"}, {"Retry-Afterwards", "9"}});
  EXPECT_EQ(error.retry_after, std::chrono::seconds(7));
}

// What the log says of a refusal.
std::string logged(const std::string& body, bool sent) {
  test::LiveLoop loop;
  test::ScriptedClient client;
  client.always({422, {}, body});
  RestApi api(client, {.provider = "x", .base_url = "http://x"});
  RestCall call{.method = "POST", .path = "/boxes"};
  if (sent) call.json = Json{{"env", {{"TOKEN", "hunter2"}}}};
  testing::internal::CaptureStderr();
  EXPECT_THROW(loop.run(api.call(std::move(call))), Error);
  return testing::internal::GetCapturedStderr();
}

TEST(RestApi, TheLogHasNothingThatWasSent) {
  const std::string echo =
      R"({"code":"INVALID","message":"hunter2 is odd","detail":[{"type":"missing",)"
      R"("msg":"no hunter2","input":{"env":{"code":"hunter2"}}}]})";
  const std::string told = logged(echo, true);
  EXPECT_EQ(told.find("hunter2"), std::string::npos) << told;
  EXPECT_NE(told.find("INVALID missing"), std::string::npos) << told;
  EXPECT_NE(logged(R"({"message":"no such region"})", false).find("no such region"),
            std::string::npos);
  EXPECT_EQ(logged("hunter2", true).find("hunter2"), std::string::npos);
}

// What becomes of bytes 6 to 10 of a file after the given answer; "none" stands for no part.
std::string part_of(int status, HttpFields headers, std::string body = "world") {
  test::LiveLoop loop;
  test::ScriptedClient client;
  client.always({status, std::move(headers), std::move(body)});
  RestApi api(client, {.provider = "x", .base_url = "http://x"});
  const auto sent = loop.run(api.stream_range({.path = "/file"}, {6, 10}));
  EXPECT_EQ(find_field(client.last().headers, "Range"), "bytes=6-10");
  if (!sent.bytes) return "none";
  std::string part;
  std::array<char, 16> piece;
  while (const size_t count = loop.run(sent.bytes->read(piece))) part.append(piece.data(), count);
  return part;
}

TEST(RestApi, OnlyThePartOfAFileThatWasAskedForIsTaken) {
  EXPECT_EQ(part_of(206, {{"content-range", "bytes 6-10/11"}}), "world");
  EXPECT_EQ(part_of(416, {}), "none");
  EXPECT_EQ(part_of(206, {}), "world");
  EXPECT_EQ(part_of(206, {}, "world and more"), "world");
  const std::optional unavailable(ErrorCode::unavailable);
  EXPECT_EQ(test::code_of([] { part_of(206, {{"Content-Range", "bytes 0-4/11"}}); }), unavailable);
}

TEST(RestApi, OfAWholeFileThePartThatWasAskedForIsTaken) {
  EXPECT_EQ(part_of(200, {}, "hello world, and more"), "world");
  EXPECT_EQ(part_of(200, {}, "hello wo"), "wo");
  EXPECT_EQ(part_of(200, {}, "hello"), "");
}

// What the adapter makes of another gateway's refusal of a create.
Error refused(int status, std::string body, HttpFields headers = {}) {
  test::LiveLoop loop;
  test::ScriptedClient client;
  client.always({status, std::move(headers), std::move(body)});
  auto provider = std::make_shared<SandgateProvider>(
      client, loop.executor(), SandgateSettings{"http://inner", "p", Secret("k"), true});
  try {
    loop.run(provider->create({.sandbox_id = "sb1"}));
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::internal, "nothing was thrown");
}

// What a loop did in which order that reads such an answer and has something else to do.
std::vector<std::string> order_of_work(size_t bytes, bool allow_private) {
  test::ScriptedClient client;
  client.always({200, {}, Json{{"text", std::string(bytes, 'a')}}.dump(), {}});
  RestApi api(client, {.provider = "sandgate", .allow_private = allow_private});
  asio::io_context loop;
  std::vector<std::string> order;
  spawn_detached(loop.get_executor(), [&]() -> Task<void> {
    auto getting = api.get("/");
    const Json answer = co_await std::move(getting);
    order.push_back(answer.at("text").get<std::string>() == std::string(bytes, 'a') ? "read" : "?");
  });
  spawn_detached(loop.get_executor(), [&]() -> Task<void> {
    order.emplace_back("other");
    co_return;
  });
  loop.run();
  return order;
}

TEST(RestApi, ALargeAnswerOfATenantsUpstreamHoldsUpNoLoop) {
  const std::vector<std::string> at_once{"read", "other"}, later{"other", "read"};
  EXPECT_EQ(order_of_work(4 << 20, false), later);
  EXPECT_EQ(order_of_work(4 << 20, true), at_once);
  EXPECT_EQ(order_of_work(1000, false), at_once);
}

TEST(RestApi, OfARefusalABeginningIsKept) {
  test::ScriptedClient client;
  client.always({500, {}, std::string(1 << 20, '['), {}});
  RestApi api(client, {.provider = "sandgate"});
  EXPECT_EQ(test::run(api.send({.path = "/"})).body.size(), size_t{64} << 10);
}

TEST(SandgateProvider, ARefusedCreateLetsAnotherBackendTry) {
  EXPECT_EQ(refused(401, R"({"code":"unauthenticated","detail":"x"})").code,
            ErrorCode::unavailable);
  EXPECT_TRUE(are_credentials_refused(refused(401, R"({"code":"unauthenticated"})")));
  EXPECT_TRUE(are_credentials_refused(refused(403, R"({"code":"forbidden"})")));
  EXPECT_TRUE(are_credentials_refused(refused(403, "<html>")));
  EXPECT_EQ(refused(402, R"({"code":"budget_exceeded"})").code, ErrorCode::no_capacity);
  EXPECT_EQ(refused(400, R"({"code":"invalid","detail":"ttl"})").code, ErrorCode::unsupported);
  EXPECT_EQ(refused(422, R"({"code":"unsupported"})").code, ErrorCode::unsupported);
  EXPECT_EQ(refused(429, R"({"code":"rate_limited"})").code, ErrorCode::no_capacity);
  EXPECT_EQ(refused(429, R"({"code":"rate_limited"})", {{"Retry-After", "3"}}).code,
            ErrorCode::rate_limited);
  EXPECT_EQ(refused(500, "<html>").code, ErrorCode::unavailable);
  EXPECT_EQ(refused(201, "{}").code, ErrorCode::unavailable);
  EXPECT_EQ(refused(201, "not json").code, ErrorCode::unavailable);
}

// What a sandbox's own permissions forbid says nothing of the deployment's key.
TEST(SandgateProvider, WhatTheSandboxForbidsIsToldAsItIs) {
  const auto read = [](const std::string& body) {
    return wire::read_error("sandgate", {.status = 403, .body = body});
  };
  const Error file =
      read(R"({"code":"forbidden","detail":"'/etc/shadow' may not be accessed like this",)"
           R"("refused_by":"sandbox"})");
  EXPECT_EQ(file.code, ErrorCode::forbidden);
  EXPECT_STREQ(file.what(), "'/etc/shadow' may not be accessed like this");
  EXPECT_FALSE(are_credentials_refused(file));
  EXPECT_TRUE(are_credentials_refused(read(R"({"code":"forbidden","detail":"the role viewer"})")));
  EXPECT_TRUE(
      are_credentials_refused(read(R"({"code":"unauthenticated","refused_by":"sandbox"})")));
}

TEST(SandgateProvider, OnlyWhatTheProtocolSaysIsBelieved) {
  test::LiveLoop loop;
  test::ScriptedClient client;
  auto provider = std::make_shared<SandgateProvider>(
      client, loop.executor(), SandgateSettings{"http://inner", "p", Secret("k"), true});
  const auto ended = [&](int status, const std::string& body) {
    client.always({status, {}, body});
    return !test::code_of([&] { loop.run(provider->kill("sb1")); });
  };
  const std::string stopping = R"({"id":"sb1","state":"stopping"})";
  EXPECT_TRUE(ended(204, ""));
  EXPECT_TRUE(ended(404, R"({"code":"not_found"})"));
  EXPECT_TRUE(ended(202, stopping));
  for (const char* body : {"", "null", "{}", R"({"id":5,"state":["x"]})", "[]", "<html>",
                           R"({"id":"sb1","state":"running"})", R"({"id":"sb1","state":"odd"})"}) {
    EXPECT_FALSE(ended(200, body)) << body;
    client.always({200, {}, body});
    const auto unavailable = std::optional(ErrorCode::unavailable);
    EXPECT_EQ(test::code_of([&] { loop.run(provider->pause("sb1", Keeps::disk)); }), unavailable)
        << body;
    EXPECT_EQ(test::code_of([&] { loop.run(provider->list()); }), unavailable) << body;
    EXPECT_EQ(test::code_of([&] { loop.run(provider->processes("sb1")); }), unavailable) << body;
    EXPECT_EQ(test::code_of([&] { loop.run(provider->list_files("sb1", ".", 1)); }), unavailable)
        << body;
  }
  client.always({200, {}, R"({"id":"sb1","state":"paused","kept":"disk"})"});
  EXPECT_EQ(loop.run(provider->pause("sb1", Keeps::disk)), Keeps::disk);
  EXPECT_THROW(loop.run(provider->resume("sb1")), Error);
}

TEST(SandgateProvider, ACreateCarriesOurId) {
  const Json body = wire::to_create({.sandbox_id = "sb1", .metadata = {{"a", "b"}}}, "python@3");
  EXPECT_EQ(body["metadata"]["sandgate_id"], "sb1");
  EXPECT_EQ(body["metadata"]["a"], "b");
  EXPECT_EQ(body["profile"], "python@3");
  EXPECT_EQ(body["resources"]["vcpu"], 1.0);
  EXPECT_FALSE(body.contains("image"));
  EXPECT_FALSE(body.contains("placement"));
}

TEST(SandgateProvider, ACreateNamesTheRegionWhereItHasToBe) {
  const Json body = wire::to_create({.sandbox_id = "sb1", .region = "eu"}, "python");
  EXPECT_EQ(body["placement"], Json({{"region", "eu"}}));
}

TEST(SandgateProvider, UntilTheFirstAnswerNothingIsDeclared) {
  test::LiveLoop loop;
  test::ScriptedClient client;
  client.always({503, {}, ""});
  auto provider = std::make_shared<SandgateProvider>(
      client, loop.executor(), SandgateSettings{"http://inner", "p", Secret("k"), true});
  EXPECT_TRUE(provider->descriptor().verbs.empty());
  EXPECT_THROW(loop.run(provider->refresh()), Error);
  EXPECT_TRUE(provider->descriptor().verbs.empty());
}

}  // namespace
}  // namespace sandgate
