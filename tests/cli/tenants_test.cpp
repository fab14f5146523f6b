#include <gtest/gtest.h>

#include "tests/cli/scripted_server.hpp"
#include "tests/cli/told.hpp"

namespace sandgate::cli {
namespace {

TEST(TenantCommands, ATenantIsRenamed) {
  ScriptedServer server(
      [](const auto& request) { return ScriptedServer::json(200, request.body); });
  EXPECT_EQ(tell(server.url(), {"tenants", "rename", "tn1", "Acme"}).output,
            "tn1 is called Acme\n");
  EXPECT_EQ(server.requests()[0].method + " " + server.requests()[0].target,
            "PATCH /v1/tenants/tn1");
  EXPECT_EQ(Json::parse(server.requests()[0].body), (Json{{"name", "Acme"}}));
}

TEST(TenantCommands, ALimitIsTakenAway) {
  ScriptedServer server([](const auto& request) {
    if (request.method == "PUT")
      return ScriptedServer::json(200, R"({"limits":)" + request.body + "}");
    return ScriptedServer::json(200, R"({"limits":{"max_running":20,"max_vcpu":16}})");
  });
  const Told told =
      tell(server.url(), {"limits", "tn1", "--no-max-vcpu", "--creates-per-minute", "60"});
  EXPECT_EQ(told.exit_code, 0);
  EXPECT_EQ(told.output,
            "max_running\t20\nmax_vcpu\t-\ncreates_per_minute\t60\nrequests_per_second\t-\n");
  ASSERT_EQ(server.requests().size(), 2u);
  EXPECT_EQ(Json::parse(server.requests()[1].body),
            Json::parse(R"({"max_running":20,"max_vcpu":null,"creates_per_minute":60})"));
}

TEST(TenantCommands, ALimitIsNotSetAndTakenAway) {
  EXPECT_EQ(
      tell("http://127.0.0.1:1", {"limits", "tn1", "--no-max-vcpu", "--max-vcpu", "2"}).exit_code,
      2);
}

TEST(TenantCommands, WhoseKeysAndChangesTheyAreIsShown) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"items":[
      {"id":"a","name":"n","role":"admin","tenant":"tn1","action":"put","object":"o",
       "actor":{"name":"ops"},"request_id":"rq1"},
      {"id":"b","name":"n","role":"operator","tenant":null}]})");
  });
  EXPECT_EQ(tell(server.url(), {"keys", "list"}).output,
            "a\tn\tadmin\t-\t-\t-\ttn1\nb\tn\toperator\t-\t-\t-\t-\n");
  EXPECT_EQ(tell(server.url(), {"audit"}).output, "-\tops\tput\to\trq1\ttn1\n-\t-\t-\t-\t-\t-\n");
}

TEST(TenantCommands, OperatorsKeysAreListedAlone) {
  ScriptedServer server([](const auto&) {
    return ScriptedServer::json(200, R"({"items":[
      {"id":"ky1","role":"admin","tenant":"tn1"},{"id":"ky2","role":"operator","tenant":null}],
      "next_cursor":null})");
  });
  const auto listed = [&](std::vector<const char*> words) {
    std::vector<std::string> ids;
    words.insert(words.begin(), {"keys", "list", "--json"});
    const Json document = Json::parse(tell(server.url(), std::move(words)).output);
    for (const Json& key : document.at("items")) ids.push_back(key.at("id"));
    return ids;
  };
  EXPECT_EQ(listed({"--operator"}), std::vector<std::string>{"ky2"});
  EXPECT_EQ(listed({}), (std::vector<std::string>{"ky1", "ky2"}));
}

TEST(TenantCommands, TheTrailIsNarrowed) {
  ScriptedServer server([](const auto&) { return ScriptedServer::json(200, R"({"items":[]})"); });
  EXPECT_EQ(
      tell(server.url(), {"audit", "--action", "key.create", "--object", "a b", "--key", "ky1",
                          "--from", "2026-11-01T00:00:00Z", "--to", "2026-12-01T00:00:00Z"})
          .exit_code,
      0);
  EXPECT_EQ(server.requests()[0].target,
            "/v1/audit?action=key.create&object=a%20b&key=ky1&from=2026-11-01T00%3A00%3A00Z"
            "&to=2026-12-01T00%3A00%3A00Z&limit=100");
}

}  // namespace
}  // namespace sandgate::cli
