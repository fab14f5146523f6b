#include <gtest/gtest.h>

#include "tests/cli/scripted_server.hpp"
#include "tests/cli/told.hpp"

namespace sandgate::cli {
namespace {

constexpr const char* kStored = R"({"name":"d","tenant":null,"provider":"p","enabled":true,
  "settings":{"url":"https://a.example"},"credential_names":["api_key"],"weight":7,"version":2})";

// Answers a read with `stored`, or says that there is none, and takes every change.
ScriptedServer::Answer with_stored(const std::string& stored) {
  return [stored](const auto& request) {
    if (request.method != "GET") return ScriptedServer::json(200, "{}");
    return stored.empty() ? ScriptedServer::json(404, R"({"code":"not_found","detail":"none"})")
                          : ScriptedServer::json(200, stored);
  };
}

// Runs `sandgate deployments …` where `stored` is what there is; returns the body of its last PUT.
Json sent(const std::string& stored, std::vector<const char*> arguments) {
  ScriptedServer server(with_stored(stored));
  arguments.insert(arguments.begin(), "deployments");
  EXPECT_EQ(tell(server.url(), std::move(arguments)).exit_code, 0);
  EXPECT_EQ(server.requests().back().method + " " + server.requests().back().target,
            "PUT /v1/deployments/d");
  return Json::parse(server.requests().back().body);
}

TEST(DeploymentCommands, WhatIsNotNamedStays) {
  const Json settings = Json::parse(kStored)["settings"];
  EXPECT_EQ(sent(kStored, {"set", "d", "--provider", "p", "--disabled"}),
            Json({{"provider", "p"}, {"settings", settings}, {"weight", 7}, {"enabled", false}}));
  EXPECT_EQ(sent(kStored, {"set", "d", "--weight", "50"}),
            Json({{"provider", "p"}, {"settings", settings}, {"weight", 50}, {"enabled", true}}));
  EXPECT_EQ(sent(kStored, {"set", "d", "--setting", "profile=x"})["settings"],
            Json({{"profile", "x"}}));
}

TEST(DeploymentCommands, WhatIsStoredIsShown) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, kStored); });
  EXPECT_EQ(Json::parse(tell(server.url(), {"deployments", "show", "d"}).output),
            Json::parse(kStored));
  EXPECT_EQ(server.requests().back().target, "/v1/deployments/d");
}

TEST(DeploymentCommands, WhatIsConfiguredElsewhereIsShownAsItIsOffered) {
  ScriptedServer server([](const auto& request) {
    if (request.target.starts_with("/v1/deployments/"))
      return ScriptedServer::json(404, R"({"code":"not_found","detail":"none"})");
    return ScriptedServer::json(
        200, R"({"items":[{"deployment":"a"},{"deployment":"local"}],"next_cursor":null})");
  });
  EXPECT_EQ(Json::parse(tell(server.url(), {"deployments", "show", "local"}).output),
            Json({{"deployment", "local"}}));
  testing::internal::CaptureStderr();
  EXPECT_EQ(tell(server.url(), {"deployments", "show", "b"}).exit_code, 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr().find("sandgate: none"), 0u);
}

TEST(DeploymentCommands, AreListedInBothGroups) {
  for (const char* group : {"providers", "deployments"}) {
    ScriptedServer server([](const auto&) {
      return ScriptedServer::json(
          200,
          R"({"items":[{"deployment":"d","provider":"p","enabled":true}],"next_cursor":null})");
    });
    const std::string told = tell(server.url(), {group, "list"}).output;
    EXPECT_EQ(told.substr(0, told.find("true")), "d\tp\t-\t");
    EXPECT_EQ(server.requests().back().target.find("/v1/providers"), 0u);
  }
}

TEST(DeploymentCommands, AnotherProviderHasItsOwnSettings) {
  EXPECT_EQ(sent(kStored, {"set", "d", "--provider", "q"}),
            Json({{"provider", "q"}, {"weight", 7}, {"enabled", true}}));
}

TEST(DeploymentCommands, ANewOneIsWhatIsNamed) {
  EXPECT_EQ(sent("", {"set", "d", "--provider", "p", "--setting", "url=https://b.example"}),
            Json({{"provider", "p"}, {"settings", {{"url", "https://b.example"}}}}));
}

// A tenant is shown the operator's deployment without its settings, and makes one of its own.
TEST(DeploymentCommands, TheOperatorsIsNoTenants) {
  const std::string shared =
      R"({"name":"d","tenant":null,"provider":"q","enabled":true,"weight":9})";
  EXPECT_EQ(sent(shared, {"set", "d", "--provider", "p"}), Json({{"provider", "p"}}));
  ScriptedServer server(with_stored(shared));
  EXPECT_EQ(tell(server.url(), {"deployments", "disable", "d"}).exit_code, 1);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(DeploymentCommands, WhatCannotBeSwitchedIsLeftOutByProfiles) {
  ScriptedServer server(with_stored(""));
  for (const char* verb : {"enable", "disable"}) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(tell(server.url(), {"deployments", verb, "local"}).exit_code, 1);
    const std::string told = testing::internal::GetCapturedStderr();
    EXPECT_NE(told.find("'local'"), std::string::npos) << told;
    EXPECT_NE(told.find("placement.exclude"), std::string::npos) << told;
  }
}

TEST(DeploymentCommands, ANewOneNeedsAProvider) {
  ScriptedServer server(with_stored(""));
  EXPECT_EQ(tell(server.url(), {"deployments", "set", "d", "--weight", "5"}).exit_code, 2);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(DeploymentCommands, AreSwitchedOffAndOn) {
  const Json settings = Json::parse(kStored)["settings"];
  EXPECT_EQ(sent(kStored, {"disable", "d"}),
            Json({{"provider", "p"}, {"settings", settings}, {"weight", 7}, {"enabled", false}}));
  EXPECT_EQ(sent(kStored, {"enable", "d"})["enabled"], true);
}

TEST(DeploymentCommands, ASettingIsWhatItReadsAs) {
  const Json body = sent("", {"set", "d", "--provider", "p", "--setting", "process_limit=true",
                              "--setting", "creates_per_minute=10", "--setting",
                              "limits={\"vcpu\":2}", "--setting", "image_pull_secrets=[\"a\"]",
                              "--setting", "text=\"10\"", "--setting", "image=debian:12"});
  EXPECT_EQ(body["settings"],
            Json::parse(R"({"process_limit":true,"creates_per_minute":10,"limits":{"vcpu":2},
              "image_pull_secrets":["a"],"text":"10","image":"debian:12"})"));
}

// The gateway alone knows which settings are texts: those arrive as they were written.
TEST(DeploymentCommands, ATextMayLookLikeANumber) {
  ScriptedServer server([](const auto& request) {
    if (request.method == "GET")
      return ScriptedServer::json(404, R"({"code":"not_found","detail":"none"})");
    const Json settings = Json::parse(request.body)["settings"];
    if (settings["team"].is_string()) return ScriptedServer::json(200, "{}");
    return ScriptedServer::json(422, R"({"code":"invalid","detail":"no","fields":[
      {"path":"/settings/team","message":"must be a string"}]})");
  });
  EXPECT_EQ(tell(server.url(), {"deployments", "set", "d", "--provider", "p", "--setting",
                                "team=123456789012345678901234567890.10", "--setting", "n=3"})
                .exit_code,
            0);
  EXPECT_EQ(Json::parse(server.requests().back().body)["settings"],
            Json({{"team", "123456789012345678901234567890.10"}, {"n", 3}}));
}

TEST(DeploymentCommands, AnotherRefusalIsFinal) {
  ScriptedServer server([](const auto& request) {
    if (request.method == "GET")
      return ScriptedServer::json(404, R"({"code":"not_found","detail":"none"})");
    return ScriptedServer::json(422, R"({"code":"invalid","detail":"no","fields":[
      {"path":"/settings/n","message":"must be true or false"},
      {"path":"/settings/text","message":"must be a string"}]})");
  });
  testing::internal::CaptureStderr();
  EXPECT_EQ(tell(server.url(), {"deployments", "set", "d", "--provider", "p", "--setting", "n=3",
                                "--setting", "text=so"})
                .exit_code,
            1);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("/settings/n must be true or false"),
            std::string::npos);
  EXPECT_EQ(server.requests().size(), 2u);
}

}  // namespace
}  // namespace sandgate::cli
