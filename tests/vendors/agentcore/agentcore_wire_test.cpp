#include "providers/agentcore/agentcore_wire.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace sandgate::agentcore {
namespace {

CreateSpec open_spec() {
  return {.sandbox_id = "sb0123456789abcdefghijklmn",
          .network = {.fallback = NetworkDefault::allow}};
}

TEST(AgentcoreWire, ACreateCarriesOurIdAndOneTokenForIt) {
  const CreateSpec spec = open_spec();
  const Json body = to_start(spec, {});
  EXPECT_EQ(body["name"], spec.sandbox_id);
  EXPECT_EQ(body["clientToken"], to_token(spec.sandbox_id));
  const std::regex form("[a-zA-Z0-9](-*[a-zA-Z0-9]){0,256}");
  for (const std::string& id : {spec.sandbox_id, std::string("1")}) {
    EXPECT_TRUE(std::regex_match(to_token(id), form)) << id;
    EXPECT_GE(to_token(id).size(), 33u);
  }
}

TEST(AgentcoreWire, TheSessionsLifeIsFixedAtItsStart) {
  CreateSpec spec = open_spec();
  EXPECT_EQ(to_start(spec, {})["sessionTimeoutSeconds"], 28'800);
  EXPECT_EQ(to_start(spec, {.keep_alive_seconds = 60})["sessionTimeoutSeconds"], 600);
  spec.ttl = std::chrono::hours(9);
  EXPECT_EQ(to_start(spec, {.keep_alive_seconds = 60})["sessionTimeoutSeconds"], 28'800);
}

TEST(AgentcoreWire, NetworkAndImageAreTheInterpreters) {
  CreateSpec spec = open_spec();
  EXPECT_THROW(to_start(spec, {.is_open = false}), Error);
  spec.network.fallback = NetworkDefault::deny;
  EXPECT_THROW(to_start(spec, {}), Error);
  EXPECT_NO_THROW(to_start(spec, {.is_open = false}));
  spec.network.allow = {"example.org:443"};
  EXPECT_THROW(to_start(spec, {.is_open = false}), Error);
  spec = open_spec();
  spec.image = "mine";
  EXPECT_THROW(to_start(spec, {}), Error);
  EXPECT_NO_THROW(to_start(spec, {.interpreter = "mine"}));
}

TEST(AgentcoreWire, OnlySessionsNamedAsOursAreOurs) {
  const std::string ours = "sb0123456789abcdefghijklmn";
  const Box box = to_box({{"sessionId", "01A"}, {"name", ours}, {"status", "READY"}});
  EXPECT_EQ(box.sandbox.backend_id, "01A");
  EXPECT_EQ(box.sandbox.sandbox_id, ours);
  EXPECT_FALSE(box.ended);
  EXPECT_EQ(box.sandbox.installation, "");
  const Box named = to_box({{"sessionId", "01A"}, {"name", ours + "-0123456789abcdef"}});
  EXPECT_EQ(named.sandbox.sandbox_id, ours);
  EXPECT_EQ(named.sandbox.installation, "0123456789abcdef");
  EXPECT_EQ(to_box({{"sessionId", "01A"}, {"name", "session"}}).sandbox.sandbox_id, "");
  EXPECT_EQ(to_box({{"sessionId", "01A"}, {"name", "my-session"}}).sandbox.installation, "");
  EXPECT_TRUE(to_box({{"sessionId", "01A"}, {"status", "TERMINATED"}}).ended);
}

ShellProvider::LineResult ran_of(const Json& document) {
  return to_line_result(to_result(document.dump()));
}

TEST(AgentcoreWire, AStatusIsReadFromWhatWasPrinted) {
  const Json hidden{{"content", Json::array()},
                    {"structuredContent",
                     {{"stdout", "a\r\nsandgate-status:7\r\n"}, {"stderr", ""}, {"exitCode", 0}}}};
  EXPECT_EQ(ran_of(hidden).output, "a\n");
  EXPECT_EQ(ran_of(hidden).status, 7);
  // A program may print the mark too; the last one is ours.
  const Json block{{"type", "text"}, {"text", "sandgate-status:9\nsandgate-status:0\n"}};
  EXPECT_EQ(ran_of({{"content", {block}}}).status, 0);
  EXPECT_EQ(ran_of({{"content", {block}}}).output, "sandgate-status:9\n");
}

TEST(AgentcoreWire, HostileAnswersAreErrors) {
  EXPECT_THROW(to_box(Json::array()), Error);
  EXPECT_THROW(to_box({{"sessionId", 7}}), Error);
  for (const char* payload : {"", "{x", "[]", "7", R"({"content":7})", R"({"content":{}})"})
    EXPECT_THROW(to_result(payload), Error) << payload;
  EXPECT_TRUE(to_result(R"({"content":[7,{"type":"text"}],"isError":true})").failed);
  EXPECT_THROW(to_line_result({.printed = "nothing"}), Error);
  EXPECT_THROW(to_line_result({.printed = "sandgate-status:"}), Error);
  EXPECT_THROW(to_line_result({.printed = "sandgate-status:99999999999"}), Error);
}

}  // namespace
}  // namespace sandgate::agentcore
