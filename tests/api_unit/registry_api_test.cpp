#include "gateway/api/audit.hpp"
#include "gateway/api/deployments.hpp"
#include "gateway/api/keys.hpp"
#include "gateway/api/profiles.hpp"
#include "gateway/api/tenants.hpp"
#include "tests/registry/registry_fixture.hpp"

namespace sandgate::api {
namespace {

using http::Method;
using http::Role;
using test::kActor;
using test::run;

void validate(const DeploymentRow& row, Problems& problems) {
  if (row.settings.contains("url") && row.tenant)
    problems.add("/settings/url", "only the operator may");
}

// The handlers behind their routes, without a socket.
struct RegistryApiTest : testing::Test {
  RegistryApiTest() {
    audit.add_routes(routes);
    deployments.add_routes(routes);
    keys.add_routes(routes);
    profiles.add_routes(routes);
    tenants.add_routes(routes);
  }

  struct Answer {
    int status = 0;
    Json body;
    std::string code, path, detail;  // of a refusal
  };

  Answer call(http::Caller caller, Method method, const std::string& target,
              const std::string& body = "", const char* content_type = "application/json") {
    const size_t mark = std::min(target.find('?'), target.size());
    auto match = routes.match(method, target.substr(0, mark));
    if (!match.route) return {.status = 404, .code = "no route"};
    if (!http::allows(caller.role, match.route->permission)) return {.status = 403};
    http::Request request;
    request.method = method;
    request.route = match.route->pattern;
    request.params = std::move(match.params);
    if (mark < target.size()) request.query = http::Query(target.substr(mark + 1));
    request.headers.add("Content-Type", content_type);
    request.body = body;
    request.id = "rqtest";
    request.caller = std::move(caller);
    try {
      const auto response = run(match.route->handler(request));
      const auto& text = std::get<std::string>(response.body);
      return {.status = response.status, .body = text.empty() ? Json() : Json::parse(text)};
    } catch (const Error& error) {
      return {.code = std::string(to_string(error.code)),
              .path = error.fields.empty() ? "" : error.fields[0].path,
              .detail = error.what()};
    }
  }

  http::Caller as(Role role) { return {.role = role, .tenant = tenant, .key_id = "kyme"}; }
  http::Caller root() { return {.role = Role::operator_}; }

  test::TestDatabase database;
  SystemClock clock;
  Cipher cipher{Secret(std::string(32, 'k'))};
  Notifications notifications{database.url()};
  TenantStore tenant_store{*database};
  KeyStore key_store{*database};
  ProfileStore profile_store{*database};
  ProfileResolver resolver{profile_store, notifications};
  DeploymentStore deployment_store{*database, cipher};
  AuditHandlers audit{*database};
  TenantHandlers tenants{tenant_store};
  KeyHandlers keys{key_store, clock};
  ProfileHandlers profiles{
      profile_store, resolver, [](const Profile& profile, const std::optional<TenantId>&) {
        return profile.isolation == Isolation::microvm ? std::vector<std::string>{"nobody can"}
                                                       : std::vector<std::string>{};
      }};
  DeploymentHandlers deployments{deployment_store, {{"acme"}, validate}};
  http::Routes routes;
  TenantId tenant = run(tenant_store.create("acme", kActor)).id;
};

TEST_F(RegistryApiTest, TenantsAreTheOperators) {
  EXPECT_EQ(call(as(Role::owner), Method::post, "/v1/tenants", R"({"name":"x"})").status, 403);
  const auto made = call(root(), Method::post, "/v1/tenants", R"({"name":"x"})");
  EXPECT_EQ(made.status, 201);
  const std::string other = "/v1/tenants/" + made.body.at("id").get<std::string>();
  EXPECT_EQ(call(as(Role::owner), Method::get, other).code, "not_found");
  EXPECT_EQ(call(as(Role::viewer), Method::get, "/v1/tenants/" + tenant.value).status, 200);
  EXPECT_EQ(call(root(), Method::get, "/v1/tenants?limit=1").body.at("items").size(), 1u);
  EXPECT_EQ(call(as(Role::viewer), Method::get, "/v1/tenants").body.at("items")[0].at("id"),
            tenant.value);
  const auto limited = call(root(), Method::put, other + "/limits", R"({"max_vcpu":2.5})");
  EXPECT_EQ(limited.body.at("limits").at("max_vcpu"), 2.5);
  EXPECT_EQ(call(root(), Method::patch, other, R"({"suspended":true})").body.at("suspended"), true);
  EXPECT_EQ(call(root(), Method::patch, other, R"({"colour":1})").path, "/colour");
  EXPECT_EQ(call(root(), Method::get, "/v1/tenants/x").code, "not_found");
}

TEST_F(RegistryApiTest, ABodyThatIsMissingChangesNothing) {
  const std::string path = "/v1/tenants/" + tenant.value;
  call(root(), Method::put, path + "/limits", R"({"max_running":3})");
  EXPECT_EQ(call(root(), Method::put, path + "/limits").code, "invalid");
  EXPECT_EQ(call(root(), Method::patch, path).code, "invalid");
  EXPECT_EQ(call(root(), Method::get, path).body.at("limits").at("max_running"), 3);
  EXPECT_EQ(call(root(), Method::put, path + "/limits", "{}").status, 200);
}

TEST_F(RegistryApiTest, TheTrailTakesTimesAndDates) {
  for (const char* query : {"?from=2026-01-01", "?from=2026-01-01T00:00:00Z&to=2099-01-01"})
    EXPECT_EQ(call(as(Role::admin), Method::get, std::string("/v1/audit") + query).status, 200);
  EXPECT_EQ(call(as(Role::admin), Method::get, "/v1/audit?from=x").path, "/from");
}

TEST_F(RegistryApiTest, ListsGoOnWhereTheyEnded) {
  for (int i = 0; i < 4; ++i) run(tenant_store.create(std::to_string(i), kActor));
  std::set<std::string> ids;
  std::string cursor;
  for (int page = 0; page < 3; ++page) {
    const auto answer = call(root(), Method::get, "/v1/tenants?limit=2" + cursor);
    for (const Json& item : answer.body.at("items")) ids.insert(item.at("id"));
    if (answer.body.at("next_cursor").is_null()) break;
    cursor = "&cursor=" + answer.body.at("next_cursor").get<std::string>();
  }
  EXPECT_EQ(ids.size(), 5u);
  for (const char* query :
       {"?cursor=x", "?cursor=W10", "?limit=0", "?limit=101", "?limit=a", "?cursor=WyJhIiwiYiJd"})
    EXPECT_EQ(call(root(), Method::get, std::string("/v1/tenants") + query).code, "invalid")
        << query;
}

TEST_F(RegistryApiTest, ACursorIsForItsListAlone) {
  for (int i = 0; i < 3; ++i) run(tenant_store.create(std::to_string(i), kActor));
  const auto cursor_of = [&](const std::string& target) {
    const Json body = call(root(), Method::get, target).body;
    return "&cursor=" + body.at("next_cursor").get<std::string>();
  };
  const std::string of_tenants = cursor_of("/v1/tenants?limit=1");
  // Of as many parts, and of the same kinds.
  const Answer keys = call(root(), Method::get, "/v1/keys?limit=1" + of_tenants);
  EXPECT_EQ(keys.code, "invalid");
  EXPECT_EQ(keys.path, "/cursor");
  const std::string created = "/v1/audit?limit=1&action=tenant.create";
  const std::string of_creates = cursor_of(created);
  EXPECT_EQ(call(root(), Method::get, created + of_creates).status, 200);
  EXPECT_EQ(
      call(root(), Method::get, created + "&from=2020-01-01&utm_source=x" + of_creates).status, 200)
      << "where the span of time ends, a page may move";
  EXPECT_EQ(call(root(), Method::get, "/v1/audit?limit=1" + of_creates).path, "/cursor");
}

TEST_F(RegistryApiTest, KeysStayWithinTheirTenantAndRole) {
  const std::string other = run(tenant_store.create("other", kActor)).id.value;
  const auto make = [&](http::Caller caller, Json body) {
    return call(std::move(caller), Method::post, "/v1/keys", body.dump());
  };
  const auto made = make(as(Role::admin), {{"name", "ci"}, {"role", "admin"}});
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.body.at("tenant"), tenant.value);
  EXPECT_EQ(make(as(Role::developer), {{"name", "k"}, {"role", "viewer"}}).status, 403);
  EXPECT_EQ(make(as(Role::admin), {{"name", "k"}, {"role", "owner"}}).code, "forbidden");
  EXPECT_EQ(make(as(Role::owner), {{"name", "k"}, {"role", "operator"}}).code, "forbidden");
  EXPECT_EQ(make(as(Role::owner), {{"name", "k"}, {"role", "viewer"}, {"tenant", other}}).code,
            "not_found");
  EXPECT_EQ(make(root(), {{"name", "k"}, {"role", "viewer"}}).path, "/tenant");
  const auto foreign = make(root(), {{"name", "k"}, {"role", "owner"}, {"tenant", other}});
  const std::string path = "/v1/keys/" + foreign.body.at("id").get<std::string>();
  EXPECT_EQ(call(as(Role::owner), Method::delete_, path).code, "not_found");
  const auto owner = make(as(Role::owner), {{"name", "o"}, {"role", "owner"}});
  const std::string owners = "/v1/keys/" + owner.body.at("id").get<std::string>();
  EXPECT_EQ(call(as(Role::admin), Method::post, owners + "/rotate").code, "forbidden");
  EXPECT_EQ(call(as(Role::admin), Method::delete_, owners).code, "forbidden");
  EXPECT_EQ(call(as(Role::owner), Method::delete_, owners).status, 204);
  const auto list = call(as(Role::admin), Method::get, "/v1/keys");
  EXPECT_EQ(list.body.at("items").size(), 2u);
  EXPECT_FALSE(list.body.at("items")[0].contains("secret"));
}

TEST_F(RegistryApiTest, ProfilesAreTheOwnersToChange) {
  const auto put = [&](http::Caller caller, const std::string& query, const char* yaml) {
    return call(std::move(caller), Method::put, "/v1/profiles/python" + query, yaml,
                "application/yaml; charset=utf-8");
  };
  const auto shared = put(root(), "", "ttl_seconds: 60");
  EXPECT_EQ(shared.status, 200);
  EXPECT_EQ(shared.body.at("changed"), true);
  EXPECT_EQ(put(root(), "", "ttl_seconds: 60").body.at("changed"), false);
  EXPECT_EQ(call(as(Role::viewer), Method::get, "/v1/profiles/python").body.at("owner"),
            "operator");
  EXPECT_EQ(call(as(Role::developer), Method::delete_, "/v1/profiles/ruby").code, "not_found");
  for (const auto& [method, below] :
       {std::pair{Method::delete_, ""}, std::pair{Method::post, "/rollback"},
        std::pair{Method::put, "/channels/beta"}}) {
    const auto refused =
        call(as(Role::developer), method, std::string("/v1/profiles/python") + below,
             method == Method::delete_ ? "" : R"({"version":1})");
    EXPECT_EQ(refused.code, "not_found") << below;
    EXPECT_NE(refused.detail.find("publish one of that name"), std::string::npos) << refused.detail;
  }
  EXPECT_EQ(put(as(Role::developer), "", "isolation: microvm").body.at("warnings").size(), 1u);
  EXPECT_EQ(call(as(Role::viewer), Method::get, "/v1/profiles/python").body.at("owner"), "tenant");
  EXPECT_EQ(put(as(Role::viewer), "", "{}").status, 403);
  EXPECT_EQ(put(as(Role::owner), "", "workspace: read_only\nworkspace_path: /srv").path,
            "/workspace");
  EXPECT_EQ(put(root(), "?channel=9", "{}").path, "/channel");
  EXPECT_EQ(put(root(), "", "name: ruby").path, "/name");
  EXPECT_EQ(call(root(), Method::put, "/v1/profiles/python", "{").code, "invalid");
  EXPECT_EQ(call(root(), Method::put, "/v1/profiles/python", "\xEF\xBB\xBF {}").status, 200);
  for (const char* body : {"image: debian-12\n", "# a profile\nname: python\n", "", "[]"}) {
    const auto refused = call(root(), Method::put, "/v1/profiles/python", body);
    EXPECT_EQ(refused.code, "invalid") << body;
    EXPECT_NE(refused.detail.find("Content-Type: application/yaml"), std::string::npos) << body;
  }
  EXPECT_EQ(call(as(Role::developer), Method::delete_, "/v1/profiles/python").status, 204);
}

TEST_F(RegistryApiTest, ProfilesHaveVersionsChannelsAndDiffs) {
  const std::string path = "/v1/profiles/python";
  for (int ttl : {60, 61, 62}) call(root(), Method::put, path, Json{{"ttl_seconds", ttl}}.dump());
  EXPECT_EQ(call(root(), Method::get, path + "@1").body.at("profile").at("ttl_seconds"), 60);
  EXPECT_EQ(call(root(), Method::get, path + "@9").code, "not_found");
  EXPECT_EQ(call(root(), Method::get, path).body.at("version"), 3);
  const auto diff = call(root(), Method::get, path + "/diff?from=1&to=stable");
  EXPECT_EQ(diff.body.at("items"), Json::parse(R"([{"path":"/ttl_seconds","from":60,"to":62}])"));
  EXPECT_EQ(call(root(), Method::get, path + "/diff?from=1").path, "/to");
  const auto pointed = call(root(), Method::put, path + "/channels/stable",
                            R"({"version":1,"canary":{"version":2,"percent":10}})");
  EXPECT_EQ(pointed.body.at("channels").at("stable").at("canary").at("percent"), 10);
  const char* shadow = R"({"version":1,"shadow":{"version":2,"percent":5}})";
  const auto shadowed = call(root(), Method::put, path + "/channels/stable", shadow);
  EXPECT_EQ(shadowed.body.at("channels").at("stable").at("shadow").at("percent"), 5);
  EXPECT_EQ(shadowed.body.at("channels").at("stable").at("canary"), nullptr);
  call(as(Role::developer), Method::put, path, "{}");
  EXPECT_EQ(call(as(Role::owner), Method::put, path + "/channels/stable", shadow).code, "forbidden")
      << "its sandboxes are billed to nobody";
  EXPECT_EQ(call(root(), Method::put, path + "/channels/7", R"({"version":1})").code, "invalid");
  EXPECT_EQ(call(root(), Method::post, path + "/rollback", R"({"version":7})").path, "/version");
  EXPECT_EQ(call(root(), Method::post, path + "/rollback", R"({"version":2})").body.at("version"),
            2);
  const auto versions = call(root(), Method::get, path + "/versions?limit=2");
  EXPECT_EQ(versions.body.at("items")[0].at("version"), 3);
  EXPECT_EQ(versions.body.at("items")[1].at("channels"), Json{"stable"});
  EXPECT_TRUE(versions.body.at("next_cursor").is_string());
}

TEST_F(RegistryApiTest, TheHistoryOfAnArchivedProfileIsRead) {
  const std::string path = "/v1/profiles/python";
  for (int ttl : {60, 61}) call(root(), Method::put, path, Json{{"ttl_seconds", ttl}}.dump());
  EXPECT_EQ(call(root(), Method::delete_, path).status, 204);
  const auto viewer = [&](const std::string& tail) {
    return call(as(Role::viewer), Method::get, path + tail);
  };
  for (const char* tail : {"", "@stable"}) EXPECT_EQ(viewer(tail).code, "not_found") << tail;
  EXPECT_EQ(viewer("/versions").body["items"].size(), 2u);
  EXPECT_EQ(viewer("/diff?from=1&to=2").body["items"].size(), 1u);
  EXPECT_EQ(viewer("@1").body["profile"]["ttl_seconds"], 60);
  EXPECT_EQ(viewer("@3").code, "not_found");
  call(as(Role::owner), Method::put, path, "{}");
  EXPECT_EQ(viewer("/versions").body["items"].size(), 1u) << "the one in use has the name";
}

TEST_F(RegistryApiTest, DeploymentsHideWhatIsSecret) {
  const char* document =
      R"({"provider":"acme","credentials":{"api_key":"hunter2"},"settings":{"url":"http://10.0.0.1"}})";
  const auto put = call(root(), Method::put, "/v1/deployments/main", document);
  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.body.at("credential_names"), Json{"api_key"});
  EXPECT_EQ(put.body.dump().find("hunter2"), std::string::npos);
  const auto seen = call(as(Role::viewer), Method::get, "/v1/deployments/main");
  EXPECT_FALSE(seen.body.contains("settings"));
  EXPECT_EQ(call(as(Role::owner), Method::put, "/v1/deployments/mine", document).path,
            "/settings/url");
  EXPECT_EQ(
      call(as(Role::owner), Method::put, "/v1/deployments/main", R"({"provider":"acme"})").code,
      "conflict");
  for (const char* body : {R"({"provider":"nobody"})", R"({"provider":""})"})
    EXPECT_EQ(call(root(), Method::put, "/v1/deployments/x", body).path, "/provider") << body;
  EXPECT_EQ(call(as(Role::developer), Method::delete_, "/v1/deployments/main").status, 403);
  EXPECT_EQ(call(as(Role::owner), Method::delete_, "/v1/deployments/main").code, "not_found");
  EXPECT_EQ(call(root(), Method::delete_, "/v1/deployments/main").status, 204);
}

TEST_F(RegistryApiTest, TheTrailIsReadByWhoMay) {
  call(as(Role::owner), Method::post, "/v1/keys", R"({"name":"ci","role":"viewer"})");
  EXPECT_EQ(call(as(Role::developer), Method::get, "/v1/audit").status, 403);
  const auto own = call(as(Role::admin), Method::get, "/v1/audit?action=key.create");
  ASSERT_EQ(own.body.at("items").size(), 1u);
  EXPECT_EQ(own.body.at("items")[0].at("actor").at("key"), "kyme");
  EXPECT_EQ(own.body.at("items")[0].at("request_id"), "rqtest");
  EXPECT_EQ(call(root(), Method::get, "/v1/audit?from=yesterday").path, "/from");
  EXPECT_EQ(call(root(), Method::get, "/v1/audit?limit=1").body.at("items").size(), 1u);
}

// Ids are given out in another order than times where changes are made at once.
TEST_F(RegistryApiTest, TheTrailIsReadNewestFirst) {
  run(database->run([](pqxx::work& tx) {
    tx.exec(
        "INSERT INTO audit_entry (at, key, key_name, role, action, object, request) SELECT"
        " '2026-01-01T00:00:00Z'::timestamptz + seconds * interval '1 second', '', '', 'owner',"
        " 'x.do', seconds, 'rq' FROM unnest(ARRAY[3, 1, 2, 2, 5]) AS seconds");
  }));
  std::vector<std::string> objects;
  std::string cursor;
  for (int pages = 0; pages < 6; ++pages) {
    const auto page = call(root(), Method::get, "/v1/audit?action=x.do&limit=1" + cursor);
    ASSERT_EQ(page.body["items"].size(), 1u);
    objects.push_back(page.body["items"][0]["object"].get<std::string>());
    if (page.body["next_cursor"].is_null()) break;
    cursor = "&cursor=" + page.body["next_cursor"].get<std::string>();
  }
  EXPECT_EQ(objects, (std::vector<std::string>{"5", "3", "2", "2", "1"}));
}

// A transaction may wait for others before it changes anything.
TEST_F(RegistryApiTest, AChangeIsOfWhenItWasWrittenDown) {
  const auto late = run(database->run([](pqxx::work& tx) {
    tx.exec("SELECT pg_sleep(0.01)");
    sandgate::audit(tx, {.actor = kActor, .action = "x.do", .object = "x"});
    return tx.exec("SELECT at > now() FROM audit_entry WHERE object = 'x'")[0][0].as<bool>();
  }));
  EXPECT_TRUE(late);
}

}  // namespace
}  // namespace sandgate::api
