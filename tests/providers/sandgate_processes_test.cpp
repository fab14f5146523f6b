#include <gtest/gtest.h>

#include "providers/sandgate/sandgate.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"

namespace sandgate {
namespace {

Json program(const std::string& id, const std::string& state) {
  return {{"id", id},           {"command", {"true"}},
          {"pty", false},       {"background", true},
          {"state", state},     {"exit_code", state == "exited" ? Json(0) : Json()},
          {"signal", nullptr},  {"started_at", "2026-11-20T12:00:00Z"},
          {"ended_at", nullptr}};
}

HttpReply page(std::vector<Json> items, const Json& next) {
  return {200, {}, Json{{"items", std::move(items)}, {"next_cursor", next}}.dump()};
}

// A program that ends while the pages are read is on two of them.
TEST(SandgateProcesses, AreListedOnceThoughOneEndsMeanwhile) {
  test::LiveLoop loop;
  test::ScriptedClient http;
  const auto provider = std::make_shared<SandgateProvider>(
      http, loop.executor(), SandgateSettings{"http://inner", "p", Secret("k"), true});
  http.script({page({program("prb", "running"), program("pra", "running")}, "next"),
               page({program("prb", "exited"), program("prc", "exited")}, nullptr)});
  const auto all = loop.run(provider->processes("sb1"));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].id, "prb");
  EXPECT_EQ(all[0].state, ProcessState::exited) << "as it was said last";
  EXPECT_EQ(all[1].id, "pra");
  EXPECT_EQ(all[2].id, "prc");
}

// What was started and not confirmed is not run again by a repeat: the other gateway knows the key.
TEST(SandgateProcesses, CarryTheirIdAsAKeyIfTheyMayBeRepeated) {
  test::LiveLoop loop;
  test::ScriptedClient http;
  const auto provider = std::make_shared<SandgateProvider>(
      http, loop.executor(), SandgateSettings{"http://inner", "p", Secret("k"), true});
  const auto key_of_start = [&](Command command) {
    const std::string started = R"({"process_id":"prtheirs"})";
    const std::string event = "event: start\ndata: " + started + "\n\n";
    http.script({{command.background ? 202 : 200, {}, command.background ? started : event}});
    EXPECT_EQ(loop.run(provider->exec("sb1", std::move(command)))->process_id(), "prtheirs");
    std::vector<std::string> keys;
    for (const auto& [name, value] : http.last().headers)
      if (name == "Idempotency-Key") keys.push_back(value);
    return keys;
  };
  for (const bool background : {false, true}) {
    const Command plain{.shell = "true", .background = background, .process_id = "prours"};
    EXPECT_TRUE(key_of_start(plain).empty());
    Command once = plain;
    once.once = true;
    EXPECT_EQ(key_of_start(once), std::vector<std::string>{"prours"});
  }
}

// A server of one's own that has no such verb has no such path either.
TEST(SandgateProcesses, AreToldOfTheEndOfTheirInputOnlyWhereThatIsAVerb) {
  for (const bool has_stdin : {true, false}) {
    test::LiveLoop loop;
    test::ScriptedClient http;
    const auto provider = std::make_shared<SandgateProvider>(
        http, loop.executor(), SandgateSettings{"http://inner", "p", Secret("k"), true});
    Json verbs{{"exec", "nothing"}};
    if (has_stdin) verbs["stdin"] = "nothing";
    const Json offered{{"provider", "own"}, {"isolation", "container"}, {"verbs", verbs}};
    http.script({{200, {}, offered.dump()}});
    loop.run(provider->refresh());
    http.script({{200, {}, "event: start\ndata: {\"process_id\":\"pr1\"}\n\n"}, {204, {}, ""}});
    const auto process = loop.run(provider->exec("sb1", {.shell = "true"}));
    const size_t before = http.asked().size();
    loop.run(process->close_stdin());
    EXPECT_EQ(http.asked().size() - before, has_stdin ? 1U : 0U);
  }
}

}  // namespace
}  // namespace sandgate
