#include <gtest/gtest.h>

#include "tests/cli/scripted_server.hpp"
#include "tests/cli/told.hpp"

namespace sandgate::cli {
namespace {

TEST(TenantCommands, ATenantIsRenamed) {
  ScriptedServer server(
      [](const auto& request) { return ScriptedServer::json(200, request.body); });
  EXPECT_EQ(tell(server.url(), {"tenants", "rename", kTenant, "Acme"}).output,
            std::string(kTenant) + " is called Acme\n");
  EXPECT_EQ(server.requests()[0].method + " " + server.requests()[0].target,
            std::string("PATCH /v1/tenants/") + kTenant);
  EXPECT_EQ(Json::parse(server.requests()[0].body), (Json{{"name", "Acme"}}));
}

// Two pages of tenants; two have the same name.
ScriptedServer::Answer tenants_then(const char* answer) {
  return [answer](const auto& request) {
    if (request.method != "GET" || !request.target.starts_with("/v1/tenants?"))
      return ScriptedServer::json(200, answer);
    return ScriptedServer::json(
        200,
        request.target.find("cursor=") == std::string::npos
            ? R"({"items":[{"id":"tn1","name":"two"},{"id":"tn2","name":"acme"}],"next_cursor":"c"})"
            : R"({"items":[{"id":"tn3","name":"two"}],"next_cursor":null})");
  };
}

TEST(TenantCommands, ATenantIsFoundByItsName) {
  ScriptedServer server(tenants_then(R"({"items":[],"balance":"5","currency":"USD"})"));
  setenv("SANDGATE_ADMIN_KEY", "sg_operator", 1);
  const auto last = [&](std::vector<const char*> words) {
    EXPECT_EQ(tell(server.url(), words).exit_code, 0) << words[0];
    return server.requests().back();
  };
  for (const char* verb : {"suspend", "unsuspend"})
    EXPECT_EQ(last({"tenants", verb, "acme"}).target, "/v1/tenants/tn2");
  EXPECT_EQ(last({"tenants", "rename", "acme", "b"}).target, "/v1/tenants/tn2");
  EXPECT_EQ(last({"limits", "acme"}).target, "/v1/tenants/tn2");
  EXPECT_EQ(last({"budgets", "list", "acme"}).target, "/v1/tenants/tn2/budgets?limit=100");
  EXPECT_EQ(last({"budgets", "credit", "acme", "5", "--reason", "r"}).target,
            "/v1/tenants/tn2/credits");
  EXPECT_EQ(last({"invoices", "list", "--for", "acme"}).target,
            "/v1/invoices?tenant=tn2&limit=100");
  EXPECT_EQ(last({"ledger", "balances", "--for", "acme"}).target, "/v1/ledger/balances?tenant=tn2");
  EXPECT_NE(last({"list", "--tenant", "acme"}).head.find("X-Sandgate-Tenant: tn2"),
            std::string::npos);
  EXPECT_EQ(Json::parse(last({"keys", "create", "k", "--for", "acme"}).body).at("tenant"), "tn2");
  unsetenv("SANDGATE_ADMIN_KEY");
}

TEST(TenantCommands, ANameThatIsNoOrSeveralTenantsChangesNothing) {
  ScriptedServer server(tenants_then("{}"));
  const auto refused = [&](const char* name) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(tell(server.url(), {"budgets", "credit", name, "5", "--reason", "r"}).exit_code, 1);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(
      refused("acm"),
      "sandgate: no tenant has the id or the name 'acm': `sandgate tenants list` shows them\n");
  EXPECT_EQ(refused("two"),
            "sandgate: several tenants are called 'two': give an id, which is one of tn1, tn3\n");
  for (const auto& request : server.requests()) EXPECT_EQ(request.method, "GET");
}

TEST(TenantCommands, ALimitIsTakenAway) {
  ScriptedServer server([](const auto& request) {
    if (request.method == "PUT")
      return ScriptedServer::json(200, R"({"limits":)" + request.body + "}");
    return ScriptedServer::json(200, R"({"limits":{"max_running":20,"max_vcpu":16}})");
  });
  const Told told =
      tell(server.url(), {"limits", kTenant, "--no-max-vcpu", "--creates-per-minute", "60"});
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
