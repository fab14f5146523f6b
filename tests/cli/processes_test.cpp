#include <gtest/gtest.h>

#include "tests/cli/scripted_server.hpp"
#include "tests/cli/told.hpp"

namespace sandgate {
namespace {

using cli::ScriptedServer;
using cli::tell;

TEST(Processes, AreListedWithTheirEnd) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"items":[
      {"id":"pr1","command":["sh","-c","sleep 9"],"state":"running","exit_code":null,
       "signal":null,"started_at":"2026-11-02T00:00:00Z"},
      {"id":"pr2","command":["false"],"state":"exited","exit_code":1,"signal":null,
       "started_at":"2026-11-01T00:00:00Z"},
      {"id":"pr3","command":["yes"],"state":"exited","exit_code":137,"signal":"SIGKILL",
       "started_at":"2026-11-01T00:00:00Z"}]})");
  });
  EXPECT_EQ(tell(server.url(), {"process", "list", "sb1"}).output,
            "pr1\trunning\t2026-11-02 00:00:00Z\tsh -c sleep 9\n"
            "pr2\texited 1\t2026-11-01 00:00:00Z\tfalse\n"
            "pr3\texited SIGKILL\t2026-11-01 00:00:00Z\tyes\n");
  EXPECT_EQ(server.requests().back().target, "/v1/sandboxes/sb1/processes?limit=100");
}

TEST(Processes, AreSignaled) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(204, ""); });
  EXPECT_EQ(tell(server.url(), {"process", "signal", "sb1", "pr1"}).output,
            "SIGTERM is sent to pr1\n");
  tell(server.url(), {"process", "signal", "sb1", "pr1", "SIGINT"});
  EXPECT_EQ(server.requests().back().target, "/v1/sandboxes/sb1/processes/pr1/signal");
  EXPECT_EQ(Json::parse(server.requests()[0].body), (Json{{"signal", "SIGTERM"}}));
  EXPECT_EQ(Json::parse(server.requests().back().body), (Json{{"signal", "SIGINT"}}));
  EXPECT_EQ(tell(server.url(), {"process", "signal", "sb1", "pr1", "9"}).output,
            "9 is sent to pr1\n");
  EXPECT_EQ(Json::parse(server.requests().back().body), (Json{{"signal", 9}}));
  tell(server.url(), {"process", "signal", "sb1", "pr1", "9th"});
  EXPECT_EQ(Json::parse(server.requests().back().body), (Json{{"signal", "9th"}}));
}

}  // namespace
}  // namespace sandgate
