#include "gateway/compat/e2b/process_wire.hpp"

#include <gtest/gtest.h>

#include "gateway/core/error.hpp"

namespace sandgate::compat::e2b {
namespace {

TEST(ProcessWire, StartIsACommandThatOutlivesItsConnection) {
  const auto order = start_order_from(
      Json::parse(R"({"process":{"cmd":"/bin/bash","args":["-l","-c","ls"],"envs":{"A":"1"},
        "cwd":"/tmp"},"stdin":false,"tag":"t"})"),
      SandboxId::make());
  EXPECT_EQ(order.command.argv, (std::vector<std::string>{"/bin/bash", "-l", "-c", "ls"}));
  EXPECT_EQ(order.command.env.at("A"), "1");
  EXPECT_EQ(order.command.cwd, "/tmp");
  EXPECT_TRUE(order.command.keep_on_disconnect);
  EXPECT_FALSE(order.stdin_open);
  EXPECT_TRUE(ProcessId::parse(order.command.process_id));
}

TEST(ProcessWire, TheHomeIsWrittenShort) {
  const auto cwd = [](const char* text) {
    return start_order_from({{"process", {{"cmd", "a"}, {"cwd", text}}}}, SandboxId::make())
        .command.cwd;
  };
  EXPECT_EQ(cwd("~"), ".");
  EXPECT_EQ(cwd("~/"), ".");
  EXPECT_EQ(cwd("~/x"), "x");
  EXPECT_EQ(cwd("/~"), "/~");
  EXPECT_EQ(cwd(""), "") << "where the image begins";
}

TEST(ProcessWire, ATagFindsItsProcessInItsSandboxOnly) {
  const SandboxId one = SandboxId::make(), two = SandboxId::make();
  const auto order = start_order_from(Json::parse(R"({"process":{"cmd":"a"},"tag":"t"})"), one);
  ProcessInfo process;
  process.id = order.command.process_id;
  const Json by_tag = Json::parse(R"({"process":{"tag":"t"}})");
  EXPECT_TRUE(selector_from(by_tag, one).fits(process));
  EXPECT_FALSE(selector_from(by_tag, two).fits(process));
  const Json by_pid{{"process", {{"pid", pid_of(process.id)}}}};
  EXPECT_TRUE(selector_from(by_pid, one).fits(process));
  process.id = ProcessId::make().value;
  EXPECT_FALSE(selector_from(by_pid, one).fits(process));
}

// In the JSON of protobuf null is a member that is not set.
TEST(ProcessWire, NullIsNoTerminal) {
  const auto order =
      start_order_from(Json::parse(R"({"process":{"cmd":"a","envs":null},"pty":null,"tag":null})"),
                       SandboxId::make());
  EXPECT_FALSE(order.command.pty);
}

TEST(ProcessWire, AVariableIsAsLongAsTheKernelTakes) {
  const auto start = [](size_t bytes) {
    return start_order_from(
        {{"process", {{"cmd", "a"}, {"envs", {{"A", std::string(bytes, 'v')}}}}}},
        SandboxId::make());
  };
  EXPECT_EQ(start((128 << 10) - 3).command.env.at("A").size(), size_t{(128 << 10) - 3});
  EXPECT_THROW(start((128 << 10) - 2), Error);
}

TEST(ProcessWire, RefusesWhatIsNoCall) {
  const SandboxId box = SandboxId::make();
  for (const char* text : {"{}", R"({"process":{}})", R"({"process":{"cmd":""}})",
                           R"({"process":{"cmd":"a","args":[1]}})",
                           R"({"process":{"cmd":"a"},"pty":{"size":{"cols":-1}}})"})
    EXPECT_THROW(start_order_from(Json::parse(text), box), Error) << text;
  for (const char* text : {"{}", R"({"process":{"pid":0}})", R"({"process":{"pid":"x"}})",
                           R"({"process":{"pid":4294967296}})"})
    EXPECT_THROW(selector_from(Json::parse(text), box), Error) << text;
  EXPECT_THROW(signal_from(Json::parse(R"({"signal":"SIGNAL_SIGHUP"})")), Error);
  EXPECT_EQ(signal_from(Json::parse(R"({"signal":"SIGNAL_SIGKILL"})")), 9);
  EXPECT_EQ(signal_from(Json::parse(R"({"signal":15})")), 15);
}

TEST(ProcessWire, TellsHowAProcessEnded) {
  const Json left = end_event({.exit_code = 3});
  EXPECT_EQ(left["event"]["end"]["exitCode"], 3);
  EXPECT_EQ(left["event"]["end"]["exited"], true);
  EXPECT_EQ(left["event"]["end"]["error"], "exit status 3");
  EXPECT_FALSE(end_event({.exit_code = 0})["event"]["end"].contains("error"));
  const Json killed = end_event({.exit_code = 137, .signal = "SIGKILL"});
  EXPECT_EQ(killed["event"]["end"]["exitCode"], -1);
  EXPECT_EQ(killed["event"]["end"]["error"], "signal: killed");
  const Json unknown = end_event({.exit_code = 1, .signal = "SIGNEW"});
  EXPECT_EQ(unknown["event"]["end"]["status"], "signal: SIGNEW");
}

TEST(ProcessWire, CarriesOutputAsBase64) {
  EXPECT_EQ(output_event({.channel = Channel::stderr_, .bytes = "hi"}, false),
            Json::parse(R"({"event":{"data":{"stderr":"aGk="}}})"));
  EXPECT_EQ(output_event({.bytes = "hi"}, true),
            Json::parse(R"({"event":{"data":{"pty":"aGk="}}})"));
}

}  // namespace
}  // namespace sandgate::compat::e2b
