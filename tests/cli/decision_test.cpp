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
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"items":[{"deployment":"d","provider":"p","enabled":true,
      "health":{"breaker":"closed","resting":true},"price_per_hour":"0.1"}]})");
  });
  EXPECT_EQ(tell(server.url(), {"providers", "list"}).output, "d\tp\t-\ttrue\tresting\t0.1\t-\n");
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

}  // namespace
}  // namespace sandgate::cli
