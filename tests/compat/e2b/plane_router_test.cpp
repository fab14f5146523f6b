#include "gateway/compat/e2b/plane_router.hpp"

#include <gtest/gtest.h>

#include "gateway/compat/e2b/unsupported_routes.hpp"
#include "gateway/http/dispatch.hpp"
#include "gateway/http/query.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/no_body.hpp"
#include "tests/support/run.hpp"

namespace sandgate::compat::e2b {
namespace {

// Passes everything on, and tells what it was asked.
struct Asked final : http::Responder {
  explicit Asked(std::string name) : name(std::move(name)) {}
  bool is_passthrough(const http::Request&) const override { return true; }
  Task<http::Response> respond(http::Request& request, http::IncomingBody&) override {
    heard = name + " " + request.target + " " + request.path;
    authorization = request.headers.list("Authorization").value_or("none");
    co_return http::Response::empty(204);
  }
  http::Response refuse_method(const http::Request&) override { return http::Response::empty(405); }

  std::string name, heard, authorization;
};

http::Request request_to(std::string host, std::string path, std::string query = "") {
  http::Request request;
  request.headers.add("Host", std::move(host));
  request.target = path + query;
  request.path = std::move(path);
  return request;
}

struct PlaneRouterTest : testing::Test {
  std::string heard_of(http::Request request, bool data_listener = false) {
    PlaneRouter router(api, data, {"box.example", data_listener});
    api.heard = data.heard = "";
    test::NoBody body;
    test::run(router.respond(request, body));
    return api.heard + data.heard;
  }

  Asked api{"api"}, data{"data"};
};

TEST_F(PlaneRouterTest, ADomainHasItsControlPlane) {
  EXPECT_EQ(heard_of(request_to("api.box.example", "/v2/sandboxes", "?limit=1")),
            "api /e2b/v2/sandboxes?limit=1 /e2b/v2/sandboxes");
  EXPECT_EQ(heard_of(request_to("API.box.example:443", "/sandboxes")),
            "api /e2b/sandboxes /e2b/sandboxes");
  http::Request absolute = request_to("api.box.example", "/sandboxes");
  absolute.target = "http://api.box.example/sandboxes";
  EXPECT_EQ(heard_of(absolute), "api /e2b/sandboxes /e2b/sandboxes");
  EXPECT_EQ(heard_of(request_to("api.other.example", "/sandboxes")), "api /sandboxes /sandboxes");
  EXPECT_EQ(heard_of(request_to("api.x.box.example", "/sandboxes")), "api /sandboxes /sandboxes");
}

TEST_F(PlaneRouterTest, AnAccountsTokenBesideAKeyCountsForNothing) {
  const auto passed_on = [&](const char* path, const char* token, const char* key,
                             const char* second = nullptr) {
    http::Request request = request_to("localhost", path);
    request.headers.add("authorization", token);
    if (second) request.headers.add("Authorization", second);
    if (key) request.headers.add("x-api-key", key);
    heard_of(std::move(request));
    return api.authorization;
  };
  EXPECT_EQ(passed_on("/e2b/sandboxes", "Bearer sk_e2b_00", "e2b_11"), "Bearer e2b_11");
  EXPECT_EQ(passed_on("/e2b/sandboxes", "bearer sk_e2b_00", ""), "Bearer ");
  EXPECT_EQ(passed_on("/e2b/sandboxes", "Bearer sk_e2b_00", nullptr), "Bearer sk_e2b_00");
  for (const char* other : {"Bearer sg_00", "Bearer e2b_00", "Basic sk_e2b_00", "Bearer", ""})
    EXPECT_EQ(passed_on("/e2b/sandboxes", other, "e2b_11"), other);
  EXPECT_EQ(passed_on("/v1/sandboxes", "Bearer sk_e2b_00", "e2b_11"), "Bearer sk_e2b_00");
  EXPECT_EQ(passed_on("/e2b/sandboxes", "Bearer sk_e2b_00", "e2b_11", "Bearer sg_00"),
            "Bearer sk_e2b_00, Bearer sg_00");
}

TEST_F(PlaneRouterTest, TheOtherListenerHasNoControlPlane) {
  EXPECT_EQ(heard_of(request_to("api.box.example", "/sandboxes"), /*data_listener=*/true),
            "data /sandboxes /sandboxes");
}

TEST_F(PlaneRouterTest, ItsTwoPortsHaveEachTheirOwnPaths) {
  const auto status = [&](const char* port, const char* path) {
    PlaneRouter router(api, data, {"", true});
    http::Request request = request_to("localhost", path);
    request.headers.add("E2b-Sandbox-Id", SandboxId::make().value);
    request.headers.add("E2b-Sandbox-Port", port);
    test::NoBody body;
    return test::run(router.respond(request, body)).status;
  };
  for (const char* path : {"/execute", "/contexts", "/contexts/x/restart", "/files", "/health"})
    EXPECT_EQ(status("8080", path), 502) << path;
  EXPECT_EQ(status("49983", "/files"), 204);
  EXPECT_EQ(status("49983", "/health"), 204);
  EXPECT_EQ(status("49983", "/execute"), 502);
  EXPECT_EQ(status("49999", "/health"), 204);
  EXPECT_EQ(status("49999", "/execute"), 204);
  EXPECT_EQ(status("49999", "/contexts/x"), 204);
  EXPECT_EQ(status("49999", "/files"), 502);
}

// Its port is any program's, but for the paths of the code interpreter.
TEST_F(PlaneRouterTest, AHostOfTheCodeInterpreterServesItsPathsOnly) {
  const std::string host = "49999-" + SandboxId::make().value + ".box.example";
  EXPECT_EQ(heard_of(request_to(host, "/execute")), "data /execute /execute");
  EXPECT_EQ(heard_of(request_to(host, "/index.html")), "api /index.html /index.html");
}

TEST_F(PlaneRouterTest, ATargetThatDoesNotDecodeIsRefusedInTheClientsFormat) {
  PlaneRouter router(api, data, {"", true});
  test::NoBody body;
  http::Request file;
  file.target = "/files?path=a%00b";
  ASSERT_TRUE(router.is_passthrough(file));
  const http::Response refused = test::run(router.respond(file, body));
  EXPECT_EQ(refused.status, 400);
  const Json told = Json::parse(std::get<std::string>(refused.body));
  EXPECT_EQ(told.at("code"), 400);
  EXPECT_TRUE(told.contains("message"));
  EXPECT_FALSE(told.contains("detail"));
  http::Request call;
  call.target = "/filesystem.Filesystem/Stat?%zz";
  const http::Response wrong = test::run(router.respond(call, body));
  EXPECT_EQ(Json::parse(std::get<std::string>(wrong.body)).at("code"), "invalid_argument");
  EXPECT_EQ(data.heard, "");
  http::Request good;
  good.target = "/files?path=a%20b";
  test::run(router.respond(good, body));
  EXPECT_EQ(good.path, "/files");
  EXPECT_EQ(good.query.find("path"), "a b");
}

// Else the target would not be decoded, and the path stay empty.
TEST_F(PlaneRouterTest, WhatIsForTheControlPlaneIsNotPassedOn) {
  PlaneRouter router(api, data, {"box.example", false});
  EXPECT_FALSE(router.is_passthrough(request_to("api.box.example", "/sandboxes")));
  EXPECT_TRUE(router.is_passthrough(request_to("8080-x.box.example", "/")));
}

TEST(UnsupportedRoutes, SaySoAndDoNotLookLikeASandboxThatIsGone) {
  http::Routes routes;
  add_unsupported_routes(routes);
  for (const auto& [method, path] : std::vector<std::pair<http::Method, std::string>>{
           {http::Method::post, "/e2b/v3/templates"},
           {http::Method::get, "/e2b/templates/x/builds/y/status"},
           {http::Method::delete_, "/e2b/templates/tags"},
           {http::Method::get, "/e2b/v2/sandboxes/x/logs"},
           {http::Method::put, "/e2b/volumecontent/x/file"},
           {http::Method::patch, "/e2b/what/ever"}}) {
    const auto match = routes.match(method, path);
    ASSERT_TRUE(match.route) << path;
    http::Request request = request_to("x", path);
    request.method = method;
    const auto code = test::code_of([&] { test::run(match.route->handler(request)); });
    EXPECT_EQ(code, ErrorCode::unsupported) << path;
  }
}

}  // namespace
}  // namespace sandgate::compat::e2b
