#include "gateway/cli/decision.hpp"

#include <gtest/gtest.h>

#include "tests/cli/scripted_server.hpp"
#include "tests/cli/told.hpp"

namespace sandgate::cli {
namespace {

TEST(Decision, HealthIsToldInTheWordsOfTheDashboard) {
  const auto health = [](const char* breaker, bool resting) {
    return health_cell({{"health", {{"breaker", breaker}, {"resting", resting}}}});
  };
  EXPECT_EQ(health("closed", false), "ok");
  EXPECT_EQ(health("closed", true), "resting");
  EXPECT_EQ(health("half_open", false), "probing");
  EXPECT_EQ(health("open", true), "failing");
  EXPECT_EQ(health_cell({{"enabled", false}, {"health", {{"breaker", "closed"}}}}), "off");
  EXPECT_EQ(health_cell(Json::object()), "-");
}

TEST(Decision, DeploymentsAreListedWithTheirHealth) {
  ScriptedServer server([](const auto& request) {
    const bool second = request.target.find("cursor=c1") != std::string::npos;
    return ScriptedServer::json(
        200, second ? R"({"items":[{"deployment":"e","provider":"p","enabled":false}]})"
                    : R"({"items":[{"deployment":"d","provider":"p","enabled":true,
      "health":{"breaker":"closed","resting":true},"price_per_hour":"0.1"}],"next_cursor":"c1"})");
  });
  EXPECT_EQ(tell(server.url(), {"providers", "list"}).output,
            "d\tp\t-\ttrue\tresting\t0.1\t-\ne\tp\t-\tfalse\toff\t-\t-\n");
}

TEST(Decision, AnExplanationSaysWhetherThereIsAPlace) {
  std::string chosen = R"("far")";
  ScriptedServer server([&](const auto&) {
    return ScriptedServer::json(200, R"({"attempts":[],"chosen":)" + chosen + R"(,"candidates":[
      {"deployment":"far","rank":1,"health":{"breaker":"closed"},"rejected_because":[]}]})");
  });
  Told told = tell(server.url(), {"profiles", "explain", "p"});
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_EQ(told.output, "far\t1\t-\t-\tok\t-\nchosen: far\n");
  chosen = "null";
  told = tell(server.url(), {"profiles", "explain", "p"});
  EXPECT_EQ(told.exit_code, 1);
  EXPECT_TRUE(told.output.ends_with("\nchosen: none\n")) << told.output;
  EXPECT_EQ(tell(server.url(), {"profiles", "explain", "p", "--json"}).exit_code, 1);
}

TEST(Decision, ASandboxSaysWhyItIsWhereItIs) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"chosen":"far","candidates":[
      {"deployment":"near","rank":1,"price_per_hour":"0.1","health":{"breaker":"open"},
       "rejected_because":[]},
      {"deployment":"far","rank":2,"health":{"breaker":"closed"},"rejected_because":[]},
      {"deployment":"eu","rank":null,"rejected_because":["region_not_allowed"]}],
      "attempts":[
      {"deployment":"gone","outcome":"failed","code":"unavailable","duration_ms":3},
      {"deployment":"near","outcome":"failed","code":"no_capacity","duration_ms":301},
      {"deployment":"far","outcome":"created","code":null,"duration_ms":42.4}],
      "shadow":{"version":4,"outcome":"refused","decision":null}})");
  });
  const Told told = tell(server.url(), {"show", "sb1", "--why"});
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_EQ(told.output,
            "near\t1\t0.1\t-\tfailing\t-\t2. failed (no_capacity), 301 ms\n"
            "far\t2\t-\t-\tok\t-\t3. created, 42 ms\n"
            "eu\t-\t-\t-\t-\tregion_not_allowed\t-\n"
            "gone\t-\t-\t-\t-\t-\t1. failed (unavailable), 3 ms\n"
            "chosen: far\n"
            "shadow: version 4, refused\n");
  EXPECT_EQ(server.requests().back().target, "/v1/sandboxes/sb1/decision");
  EXPECT_EQ(Json::parse(tell(server.url(), {"show", "sb1", "--why", "--json"}).output)["chosen"],
            "far");
  EXPECT_EQ(tell(server.url(), {"show", "sb1", "--why", "--refresh"}).exit_code, 2);
}

}  // namespace
}  // namespace sandgate::cli
