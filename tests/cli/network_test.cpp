#include <gtest/gtest.h>

#include "tests/cli/scripted_server.hpp"
#include "tests/cli/told.hpp"

namespace sandgate::cli {
namespace {

TEST(NetworkCommands, ShowThePolicyAndWhatWasTried) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"default":"deny","allow":["a.example:443","b.example:80"],
      "verdicts":[{"at":"2026-11-20T08:09:10.5Z","target":"c.example:22","way":"connect",
      "allowed":false,"reason":"not_allowed"}]})");
  });
  EXPECT_EQ(tell(server.url(), {"network", "show", "sb1"}).output,
            "default: deny, allowed: a.example:443, b.example:80\n"
            "2026-11-20 08:09:10Z\tc.example:22\tconnect\tfalse\tnot_allowed\n");
  EXPECT_EQ(server.requests()[0].target, "/v1/sandboxes/sb1/network");
}

TEST(NetworkCommands, ReplaceThePolicy) {
  ScriptedServer server(
      [](const auto& request) { return ScriptedServer::json(200, request.body); });
  EXPECT_EQ(tell(server.url(), {"network", "set", "sb1", "--default", "deny", "--allow",
                                "a.example:443", "--allow", "b.example:80"})
                .output,
            "default: deny, allowed: a.example:443, b.example:80\n");
  EXPECT_EQ(server.requests()[0].method + " " + server.requests()[0].target,
            "PUT /v1/sandboxes/sb1/network");
  EXPECT_EQ(tell(server.url(), {"network", "set", "sb1", "--nothing"}).output,
            "default: deny, allowed: none\n");
  EXPECT_EQ(Json::parse(server.requests()[1].body),
            Json::parse(R"({"default":"deny","allow":[]})"));
  tell(server.url(), {"network", "set", "sb1"});
  EXPECT_EQ(server.requests()[2].body, "{}");
  EXPECT_EQ(tell(server.url(), {"network", "set", "sb1", "--nothing", "--allow", "a:1"}).exit_code,
            2);
}

}  // namespace
}  // namespace sandgate::cli
