#include <gtest/gtest.h>

#include "providers/sandgate/sandgate.hpp"
#include "providers/sandgate/sandgate_wire.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"

namespace sandgate {
namespace {

class StatesOfSandgate : public testing::Test {
 protected:
  // Its answers: sandboxes in these states, or an empty word for one that is not there.
  void answer(const std::vector<std::string>& states) {
    std::deque<HttpReply> replies;
    for (const std::string& state : states)
      replies.push_back(state.empty() ? HttpReply{404, {}, R"({"code":"not_found"})"}
                                      : HttpReply{200, {}, in(state)});
    http.script(std::move(replies));
    http.forget_calls();
  }
  static std::string in(const std::string& state) {
    Json document{{"id", "sb1"}, {"state", state}, {"metadata", Json::object()}};
    if (state == "paused") document["kept"] = "memory";
    return document.dump();
  }
  std::optional<ErrorCode> failure_of_pause() {
    return test::code_of([&] { loop.run(provider->pause("sb1", Keeps::disk)); });
  }
  std::optional<ErrorCode> failure_of_resume() {
    return test::code_of([&] { loop.run(provider->resume("sb1")); });
  }
  std::optional<ErrorCode> failure_of_kill() {
    return test::code_of([&] { loop.run(provider->kill("sb1")); });
  }

  test::LiveLoop loop;
  test::ScriptedClient http;
  std::shared_ptr<SandgateProvider> provider = std::make_shared<SandgateProvider>(
      http, loop.executor(), SandgateSettings{"http://inner", "p", Secret("k"), true});
};

TEST_F(StatesOfSandgate, APauseIsOverOnceItIsPaused) {
  answer({"pausing", "pausing", "paused"});
  EXPECT_EQ(loop.run(provider->pause("sb1", Keeps::disk)), Keeps::memory) << "as it says at last";
  EXPECT_EQ(http.asked(), (std::vector<std::string>{"POST http://inner/v1/sandboxes/sb1/pause",
                                                    "GET http://inner/v1/sandboxes/sb1",
                                                    "GET http://inner/v1/sandboxes/sb1"}));
  answer({"paused"});
  EXPECT_FALSE(failure_of_pause());
}

TEST_F(StatesOfSandgate, AResumeIsOverOnceItRuns) {
  answer({"resuming", "running"});
  EXPECT_FALSE(failure_of_resume());
  EXPECT_EQ(http.asked().size(), 2u);
}

TEST_F(StatesOfSandgate, WhatIsGivenUpIsAConflict) {
  answer({"pausing", "running"});
  EXPECT_EQ(failure_of_pause(), ErrorCode::conflict);
  answer({"resuming", "paused"});
  EXPECT_EQ(failure_of_resume(), ErrorCode::conflict);
}

TEST_F(StatesOfSandgate, WhatEndsMeanwhileIsNotFound) {
  for (const char* end : {"", "stopping", "stopped", "failed"}) {
    answer({"pausing", end});
    EXPECT_EQ(failure_of_pause(), ErrorCode::not_found) << end;
  }
}

TEST_F(StatesOfSandgate, WhatAProxySaysOfItIsNoAnswer) {
  for (const char* body : {"", "<html>default backend", R"({"error":"no route"})"})
    for (const int status : {404, 405, 409, 410}) {
      http.script({{status, {}, body}});
      EXPECT_EQ(failure_of_kill(), ErrorCode::unavailable) << status << body;
    }
}

TEST_F(StatesOfSandgate, AnotherStateIsNoAnswer) {
  for (const char* state : {"running", "creating", "resuming", "odd"}) {
    answer({state});
    EXPECT_EQ(failure_of_pause(), ErrorCode::unavailable) << state;
  }
  answer({"pausing", "resuming"});
  EXPECT_EQ(failure_of_pause(), ErrorCode::unavailable);
}

TEST_F(StatesOfSandgate, AnEndThatIsToldOfIsLookedAt) {
  answer({"stopping", ""});
  EXPECT_FALSE(failure_of_kill());
  answer({"stopping", "stopping"});
  EXPECT_FALSE(failure_of_kill()) << "it goes on ending by itself";
  for (const char* lie : {"running", "paused", "creating"}) {
    answer({"stopped", lie});
    EXPECT_EQ(failure_of_kill(), ErrorCode::unavailable) << lie;
  }
}

TEST_F(StatesOfSandgate, AnEndByARuleIsFoundWithItsReason) {
  const auto found = [&](const std::string& state, const Json& end) {
    Json document = Json::parse(in(state));
    document.update(end);
    http.script({{200, {}, document.dump()}});
    return loop.run(provider->find("sb1"));
  };
  const Json at{{"ended_at", "2026-11-28T04:00:00Z"}};
  for (const bool idle : {true, false}) {
    Json end = at;
    end["ended_reason"] = idle ? "idle" : "expired";
    const auto gone = found("stopped", end);
    ASSERT_TRUE(gone && gone->ended);
    EXPECT_EQ(gone->state, BackendState::gone);
    EXPECT_EQ(gone->ended->idle, idle);
    EXPECT_EQ(gone->ended->at, from_rfc3339("2026-11-28T04:00:00Z"));
    const auto ending = found("stopping", {{"ended_reason", end["ended_reason"]}});
    ASSERT_TRUE(ending && ending->ended);
    EXPECT_FALSE(ending->ended->at);
    EXPECT_FALSE(found("running", end)->ended);
  }
  for (const char* reason : {"killed", "budget", "failed", "odd", ""})
    EXPECT_FALSE(found("stopped", {{"ended_reason", reason}})) << reason;
  EXPECT_FALSE(found("failed", at));
  EXPECT_TRUE(wire::to_descriptor(to_json(Descriptor{.provider = "x"})).tells_ends);
}

}  // namespace
}  // namespace sandgate
