#include "gateway/http/routes.hpp"

#include <gtest/gtest.h>

namespace sandgate::http {
namespace {

Task<Response> nothing(Request&) { co_return Response::empty(204); }

Route route(Method method, std::string pattern) {
  return {method, std::move(pattern), Permission::read, BodyMode::none, nothing};
}

Routes table() {
  Routes routes;
  for (const char* pattern :
       {"/", "/v1/sandboxes", "/v1/sandboxes/{id}", "/v1/sandboxes/{id}/files", "/v1/keys/{id}",
        "/v1/keys/special", "/p/{id}/{port}/{rest...}", "/openapi.json"})
    routes.add(route(Method::get, pattern));
  routes.add(route(Method::post, "/v1/sandboxes"));
  routes.add(route(Method::delete_, "/v1/keys/{key}"));
  return routes;
}

TEST(Routes, FindsPatternsAndTheirParameters) {
  const Routes routes = table();
  struct Case {
    const char* path;
    const char* pattern;  // null: none
    std::map<std::string, std::string, std::less<>> params;
  };
  const Case cases[] = {
      {"/", "/", {}},
      {"/v1/sandboxes", "/v1/sandboxes", {}},
      {"/v1/sandboxes/", nullptr, {}},
      {"/v1/sandboxes/sb1", "/v1/sandboxes/{id}", {{"id", "sb1"}}},
      {"/v1/sandboxes/a%2Fb", "/v1/sandboxes/{id}", {{"id", "a/b"}}},
      {"/v1/sandboxes/../files", "/v1/sandboxes/{id}/files", {{"id", ".."}}},
      {"/v1/s%61ndboxes", "/v1/sandboxes", {}},
      {"/v1//files", nullptr, {}},
      {"/v1/keys/special", "/v1/keys/special", {}},
      {"/v1/keys/other", "/v1/keys/{id}", {{"id", "other"}}},
      {"/p/sb1/80/", "/p/{id}/{port}/{rest...}", {{"id", "sb1"}, {"port", "80"}, {"rest", ""}}},
      {"/p/sb1/80/a/b%20c",
       "/p/{id}/{port}/{rest...}",
       {{"id", "sb1"}, {"port", "80"}, {"rest", "a/b c"}}},
      {"/p/sb1/80", nullptr, {}},
      {"", "/", {}},
      {"/v1/sandboxes/%ff", nullptr, {}},
  };
  for (const Case& test : cases) {
    const auto match = routes.match(Method::get, test.path);
    ASSERT_EQ(match.route != nullptr, test.pattern != nullptr) << test.path;
    if (!match.route) continue;
    EXPECT_EQ(match.route->pattern, test.pattern) << test.path;
    EXPECT_EQ(match.params, test.params) << test.path;
  }
}

TEST(Routes, NamesTheMethodsOfAPath) {
  const Routes routes = table();
  const auto match = routes.match(Method::patch, "/v1/sandboxes");
  EXPECT_EQ(match.route, nullptr);
  EXPECT_EQ(match.allowed, (std::vector{Method::get, Method::head, Method::post}));
  EXPECT_TRUE(routes.match(Method::patch, "/nowhere").allowed.empty());
  // A literal without the method does not hide a parameter that has it.
  EXPECT_EQ(routes.match(Method::delete_, "/v1/keys/special").route->pattern, "/v1/keys/{key}");
  Routes both = table();
  const auto nothing = [](Request&) -> Task<Response> { co_return Response::empty(204); };
  both.add({Method::head, "/v1/sandboxes", Permission::open, BodyMode::none, nothing});
  EXPECT_EQ(both.match(Method::patch, "/v1/sandboxes").allowed, match.allowed) << "each once";
  EXPECT_EQ(routes.match(Method::head, "/openapi.json").route->pattern, "/openapi.json");
}

TEST(Routes, RefusesTwinsAndMalformedPatterns) {
  Routes routes = table();
  EXPECT_THROW(routes.add(route(Method::get, "/v1/sandboxes/{other}")), Error);
  EXPECT_THROW(routes.add(route(Method::get, "/a/{rest...}/b")), Error);
  EXPECT_THROW(routes.add(route(Method::get, "no-slash")), Error);
}

TEST(Permissions, FollowTheTableOfRoles) {
  struct Case {
    Permission permission;
    std::vector<Role> roles;  // besides the operator, who may everything
  };
  const Case cases[] = {
      {Permission::open, {Role::owner, Role::admin, Role::developer, Role::billing, Role::viewer}},
      {Permission::read, {Role::owner, Role::admin, Role::developer, Role::billing, Role::viewer}},
      {Permission::use_sandboxes, {Role::owner, Role::admin, Role::developer}},
      {Permission::write_profiles, {Role::owner, Role::admin, Role::developer}},
      {Permission::write_secrets, {Role::owner, Role::admin, Role::developer}},
      {Permission::administer_tenant, {Role::owner, Role::admin}},
      {Permission::read_audit, {Role::owner, Role::admin}},
      {Permission::read_billing, {Role::owner, Role::admin, Role::billing, Role::viewer}},
      {Permission::write_billing, {Role::owner, Role::admin, Role::billing}},
      {Permission::operate, {}},
  };
  for (const Case& test : cases) {
    EXPECT_TRUE(allows(Role::operator_, test.permission));
    for (const Role role :
         {Role::owner, Role::admin, Role::developer, Role::billing, Role::viewer}) {
      const bool listed = std::find(test.roles.begin(), test.roles.end(), role) != test.roles.end();
      EXPECT_EQ(allows(role, test.permission), listed)
          << static_cast<int>(role) << " " << static_cast<int>(test.permission);
    }
  }
}

}  // namespace
}  // namespace sandgate::http
