#include "providers/sprites/sprites_wire.hpp"

#include <gtest/gtest.h>

#include "gateway/core/crypto.hpp"

namespace sandgate::sprites {
namespace {

constexpr const char* kOurs = "sbabcdefghijklmnopqrstuvwx";

WebSocket::Message binary(std::string bytes) { return {.text = false, .bytes = std::move(bytes)}; }
WebSocket::Message text(std::string bytes) { return {.text = true, .bytes = std::move(bytes)}; }

TEST(SpritesWire, ACreateIsNamedByOurId) {
  CreateSpec spec{.sandbox_id = kOurs, .env = {{"A", "1"}}};
  const Json body = to_create(spec, "default");
  EXPECT_EQ(body["name"], kOurs);
  EXPECT_EQ(body["runtime"], "default");
  EXPECT_EQ(body["environment"], (Json{{"A", "1"}}));
  EXPECT_EQ(body["labels"], Json::array({"sandgate"}));
  spec.installation = "0123456789abcdef";
  EXPECT_EQ(to_create(spec, "default")["labels"],
            Json::array({"sandgate", "sandgate-0123456789abcdef"}));
  spec.image = "dev";
  EXPECT_EQ(to_create(spec, "default")["runtime"], "dev");
  spec.network.allow = {"example.com:443"};
  EXPECT_THROW(to_create(spec, "default"), Error);
}

TEST(SpritesWire, NothingGoesOutUnlessEverythingMay) {
  EXPECT_EQ(to_network({}), Json::parse(R"({"rules":[{"domain":"*","action":"deny"}]})"));
  EXPECT_EQ(to_network({.fallback = NetworkDefault::allow}), Json::parse(R"({"rules":[]})"));
  EXPECT_EQ(to_resources({.memory_mib = 2048}),
            Json::parse(R"({"memory":{"limit_mb":2048,"autoscale":false}})"));
}

TEST(SpritesWire, OnlyWhatHasAnIdOfOursIsOurs) {
  EXPECT_EQ(to_sandbox({{"name", kOurs}, {"primary_region", "ord"}}).sandbox_id, kOurs);
  EXPECT_EQ(to_sandbox({{"name", kOurs}, {"primary_region", "ord"}}).region, "ord");
  EXPECT_EQ(to_sandbox({{"name", "sbtheirs"}}).sandbox_id, "");
  EXPECT_EQ(to_sandbox({{"name", kOurs}, {"labels", Json()}}).installation, "");
  EXPECT_THROW(to_sandbox({{"name", kOurs}, {"labels", {1}}}), Error);
  EXPECT_THROW(to_sandbox({{"name", 7}}), Error);
  EXPECT_THROW(to_sandbox(Json::array()), Error);
}

TEST(SpritesWire, QueriesCarryNoCommand) {
  const Command command{.argv = {"echo", "hidden"}, .env = {{"KEY", "hidden"}}};
  const std::string query = to_exec_query(command, "pr1");
  EXPECT_EQ(query.find("hidden"), std::string::npos);
  EXPECT_TRUE(query.ends_with("&cmd=pr1")) << query;
  const auto line =
      base64_decode(to_first_line(command).substr(0, to_first_line(command).size() - 1));
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->starts_with("cd; export KEY='hidden'; exec ")) << *line;
  EXPECT_TRUE(line->ends_with("'echo' 'hidden'")) << *line;
  const Command terminal{.argv = {"sh"}, .pty = PtySize{100, 30}, .keep_on_disconnect = true};
  const std::string other = to_exec_query(terminal, "pr1");
  EXPECT_NE(other.find("&tty=true&cols=100&rows=30"), std::string::npos) << other;
  EXPECT_NE(other.find("&max_run_after_disconnect="), std::string::npos) << other;
}

TEST(SpritesWire, InputSaysWhereItGoes) {
  EXPECT_EQ(to_input("ab", false).bytes, std::string("\0ab", 3));
  EXPECT_EQ(to_input("ab", true).bytes, "ab");
  EXPECT_EQ(to_end_of_input().bytes, "\x04");
  EXPECT_TRUE(to_resize({100, 30}).text);
  EXPECT_EQ(Json::parse(to_resize({100, 30}).bytes),
            (Json{{"type", "resize"}, {"cols", 100}, {"rows", 30}}));
}

TEST(SpritesWire, EventsAreOutputOrTheEnd) {
  const Event out = to_event(binary("\1a\n"), false);
  EXPECT_EQ(out.kind, Event::output);
  EXPECT_EQ(out.channel, Channel::stdout_);
  EXPECT_EQ(out.bytes, "a\n");
  EXPECT_EQ(to_event(binary("\2x"), false).channel, Channel::stderr_);
  const Event end = to_event(binary("\3\x89"), false);
  EXPECT_EQ(end.kind, Event::ended);
  EXPECT_EQ(end.status, 137);
  const Event shown = to_event(binary("\3\x89"), true);
  EXPECT_EQ(shown.kind, Event::output);
  EXPECT_EQ(shown.bytes, "\3\x89");
  const Event told = to_event(text(R"({"type":"exit","exit_code":4})"), true);
  EXPECT_EQ(told.kind, Event::ended);
  EXPECT_EQ(told.status, 4);
  for (const char* other : {"", "{x", "[]", "7", R"({"type":"port_opened","port":80})"})
    EXPECT_EQ(to_event(text(other), false).kind, Event::other) << other;
  EXPECT_EQ(to_event(binary(""), false).kind, Event::other);
  EXPECT_EQ(to_event(binary("\x09zz"), false).kind, Event::other);
  EXPECT_THROW(to_event(text(R"({"type":"exit"})"), true), Error);
}

TEST(SpritesWire, ASessionIsFoundByTheNameInItsCommand) {
  const Json document = Json::parse(R"({"sessions":[
    {"id":"1","command":"bash","tty":true},
    {"id":27,"command":"/bin/sh -c x pr1","tty":true}]})");
  const auto found = to_session(document, "pr1");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, "27");
  EXPECT_TRUE(found->pty);
  EXPECT_FALSE(to_session(document, "pr2"));
  EXPECT_THROW(to_session(Json::array(), "pr1"), Error);
}

TEST(SpritesWire, ATimeToWaitMayBeInTheBody) {
  const auto code = [](int status, const char* body, HttpFields headers = {}) {
    return read_error("sprites", {status, std::move(headers), body});
  };
  const Error limited =
      code(429, R"({"error":"sprite_creation_rate_limited","retry_after_seconds":9})");
  EXPECT_EQ(limited.code, ErrorCode::rate_limited);
  EXPECT_EQ(limited.retry_after, std::chrono::seconds(9));
  const Error full = code(429, R"({"error":"concurrent_sprite_limit_exceeded"})");
  EXPECT_EQ(full.code, ErrorCode::no_capacity);
  EXPECT_EQ(code(429, "<html>", {{"Retry-After", "3"}}).retry_after, std::chrono::seconds(3));
  EXPECT_FALSE(code(429, R"({"retry_after_seconds":1e99})").retry_after.has_value());
  EXPECT_EQ(code(404, "{}").code, ErrorCode::not_found);
}

}  // namespace
}  // namespace sandgate::sprites
