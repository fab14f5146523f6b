#include <gtest/gtest.h>

#include "gateway/core/json_reader.hpp"
#include "tests/cli/scripted_server.hpp"
#include "tests/cli/told.hpp"

namespace sandgate::cli {
namespace {

constexpr const char* kOffered = R"({"items":[{"deployment":"main","provider":"acme",
  "health":{"breaker":"closed"},"descriptor":{"isolation":"microvm","verbs":VERBS}}]})";

constexpr const char* kAnotherPage =
    R"({"items":[{"deployment":"another","provider":"acme"}],"next_cursor":"c1"})";

// A gateway whose list ends with the deployment "main", as far as the trial looks at it.
struct Gateway {
  std::string verbs = R"({"exec":"nothing","files":"nothing"})";
  std::string output = "out\\n";
  bool refuses = false;
  bool alters = false;
  std::string file;
  bool killed = false;

  std::string answer(const ScriptedServer::Request& request) {
    const std::string asked = request.method + " " + request.target;
    if (asked == "GET /v1/providers?limit=100") return ScriptedServer::json(200, kAnotherPage);
    if (asked == "GET /v1/providers?limit=100&cursor=c1") {
      std::string offered = kOffered;
      return ScriptedServer::json(200, offered.replace(offered.find("VERBS"), 5, verbs));
    }
    if (asked == "POST /v1/sandboxes") return created(request);
    if (asked.ends_with("/exec"))
      return ScriptedServer::json(200,
                                  R"({"exit_code":7,"stderr":"err\n","stdout":")" + output + "\"}");
    if (asked.find("/files?") != std::string::npos) return filed(request);
    if (request.method == "DELETE") killed = true;
    return ScriptedServer::json(
        200, R"({"state":")" + std::string(killed ? "stopped" : "running") + "\"}");
  }
  std::string created(const ScriptedServer::Request& request) const {
    if (refuses)
      return ScriptedServer::json(503, R"({"code":"no_capacity","detail":"nothing takes it"})");
    EXPECT_EQ(Json::parse(request.body)["placement"], Json::parse(R"({"only":["main"]})"));
    return ScriptedServer::json(201, R"({"id":"sb1","backend":{"deployment":"main"}})");
  }
  std::string filed(const ScriptedServer::Request& request) {
    if (request.method == "PUT") file = request.body;
    if (alters && !file.empty()) file.pop_back();
    return ScriptedServer::of_type("application/octet-stream", file);
  }
};

// Step to result, in order.
std::vector<std::string> results(Gateway gateway, int expected_exit_code) {
  ScriptedServer server([&](const auto& request) { return gateway.answer(request); });
  const Told told = tell(server.url(), {"providers", "test", "main", "--json"});
  EXPECT_EQ(told.exit_code, expected_exit_code) << told.output;
  std::vector<std::string> lines;
  const Json document = Json::parse(told.output);
  for (const Json& step : document["steps"])
    lines.push_back(step["step"].get<std::string>() + " " + step["result"].get<std::string>());
  EXPECT_EQ(gateway.killed, !gateway.refuses);
  return lines;
}

TEST(ProviderTrial, MakesUsesAndKillsOne) {
  EXPECT_EQ(results({}, 0), (std::vector<std::string>{"descriptor ok", "create ok", "exec ok",
                                                      "files ok", "kill ok"}));
}

TEST(ProviderTrial, PrintsATable) {
  Gateway gateway;
  ScriptedServer server([&](const auto& request) { return gateway.answer(request); });
  const Told told = tell(server.url(), {"providers", "test", "main"});
  EXPECT_TRUE(told.output.starts_with("descriptor\tok\t")) << told.output;
  EXPECT_NE(told.output.find("acme, microvm, breaker closed\n"), std::string::npos) << told.output;
}

TEST(ProviderTrial, WhatIsWrongFailsAndTheSandboxIsKilledAllTheSame) {
  Gateway gateway;
  gateway.output = "other";
  gateway.alters = true;
  EXPECT_EQ(results(gateway, 1),
            (std::vector<std::string>{"descriptor ok", "create ok", "exec failed", "files failed",
                                      "kill ok"}));
}

TEST(ProviderTrial, WhatIsNotOfferedIsSkipped) {
  Gateway gateway;
  gateway.verbs = R"({"exec":"nothing"})";
  EXPECT_EQ(results(gateway, 0)[3], "files skipped");
}

TEST(ProviderTrial, ARefusedCreateLeavesTheRestOut) {
  Gateway gateway;
  gateway.refuses = true;
  EXPECT_EQ(results(gateway, 1),
            (std::vector<std::string>{"descriptor ok", "create failed", "exec skipped",
                                      "files skipped", "kill skipped"}));
}

TEST(ProviderTrial, ADeploymentThatIsNoneIsSaid) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, R"({"items":[]})"); });
  const Told told = tell(server.url(), {"providers", "test", "main"});
  EXPECT_EQ(told.exit_code, 1);
  EXPECT_EQ(told.output.substr(0, 17), "descriptor\tfailed");
}

}  // namespace
}  // namespace sandgate::cli
