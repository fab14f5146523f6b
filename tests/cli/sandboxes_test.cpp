#include <gtest/gtest.h>

#include "tests/cli/scripted_server.hpp"
#include "tests/cli/told.hpp"

namespace sandgate::cli {
namespace {

// One sandbox that is in another state at each look.
std::string restless(const ScriptedServer::Request& request) {
  if (request.method == "DELETE") return "HTTP/1.1 204 No Content\r\n\r\n";
  const bool more = request.target.find("cursor=") == std::string::npos;
  return ScriptedServer::json(200, R"({"items":[{"id":")" + std::string(more ? "sb1" : "sb2") +
                                       R"("}],"next_cursor":)" + (more ? "\"c\"" : "null") + "}");
}

TEST(Sandboxes, SayWhenTheyEndUnused) {
  const auto shown = [](const std::string& sandbox) {
    ScriptedServer server([&](const auto&) { return ScriptedServer::json(200, sandbox); });
    return tell(server.url(), {"show", "sb1"}).output;
  };
  const std::string line = "idle limit  300 s without use\n";
  EXPECT_NE(shown(R"({"id":"sb1","idle_timeout_seconds":300})").find(line), std::string::npos);
  EXPECT_EQ(shown(R"({"id":"sb1","idle_timeout_seconds":0})").find("idle"), std::string::npos);
  EXPECT_EQ(shown(R"({"id":"sb1","idle_timeout_seconds":300,
                     "ended_at":"2026-11-01T00:00:00Z"})")
                .find("idle"),
            std::string::npos);
}

// Else a command whose answer is lost, and that is sent again, makes two of what it makes.
TEST(Sandboxes, AreMadeUnderAKey) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(201, R"({"id":"sb1"})"); });
  for (const auto& words :
       {std::vector{"create", "--profile", "py"}, std::vector{"fork", "sb1"},
        std::vector{"snapshot", "create", "sb1"}, std::vector{"port", "expose", "sb1", "80"},
        std::vector{"tenants", "create", "t"}, std::vector{"keys", "create", "k"},
        std::vector{"budgets", "credit", kTenant, "5", "--reason", "r"}}) {
    const size_t before = server.requests().size();
    tell(server.url(), words);
    ASSERT_EQ(server.requests().size(), before + 1) << words[0];
    EXPECT_NE(server.requests().back().head.find("Idempotency-Key: "), std::string::npos)
        << words[0];
  }
}

// Looked for by state, what changes it meanwhile is found twice or not at all.
TEST(Sandboxes, AreListedInOneGo) {
  ScriptedServer server(restless);
  const Told told = tell(server.url(), {"list", "--profile", "py"});
  EXPECT_EQ(told.output, "sb1\t-\t-@-\t-\t-\t-\nsb2\t-\t-@-\t-\t-\t-\n");
  ASSERT_EQ(server.requests().size(), 2u);
  EXPECT_EQ(server.requests()[0].target, "/v1/sandboxes?&profile=py&ended=false&limit=100");
}

TEST(Sandboxes, ThatHaveEndedAreListedOnDemand) {
  for (const auto& words :
       {std::vector{"list", "--all"}, std::vector{"list", "--state", "failed"}}) {
    ScriptedServer server(restless);
    EXPECT_EQ(tell(server.url(), words).exit_code, 0);
    EXPECT_EQ(server.requests().at(0).target.find("ended="), std::string::npos);
  }
}

TEST(Sandboxes, AllAreKilledOnce) {
  ScriptedServer server(restless);
  const Told told = tell(server.url(), {"kill", "--all"});
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_EQ(told.output, "killed sb1\nkilled sb2\n");
  EXPECT_EQ(server.requests().at(0).target, "/v1/sandboxes?ended=false&limit=100");
}

}  // namespace
}  // namespace sandgate::cli
