#include "gateway/api/operations.hpp"

#include <gtest/gtest.h>

#include "gateway/api/openapi_document.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/one_shot_event.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

namespace sandgate::api {
namespace {

Task<bool> answer(bool value) { co_return value; }
Task<bool> fail() {
  throw Error(ErrorCode::unavailable, "no database");
  co_return false;
}

http::Response readiness(std::function<Task<bool>()> database, bool deployment) {
  OperationsHandlers handlers({.version = "1",
                               .database_answers = std::move(database),
                               .has_deployment = [=] { return answer(deployment); }});
  http::Request request;
  return test::run(handlers.ready(request));
}

TEST(Operations, ReadyNeedsTheDatabaseAndADeployment) {
  EXPECT_EQ(readiness([] { return answer(true); }, true).status, 200);
  EXPECT_EQ(readiness([] { return answer(true); }, false).status, 503);
  EXPECT_EQ(readiness([] { return fail(); }, true).status, 503);
}

TEST(Operations, WhoeverWaitsForReadinessFillsNoLog) {
  EXPECT_TRUE(readiness([] { return answer(true); }, false).is_expected);
  EXPECT_TRUE(readiness([] { return fail(); }, true).is_expected);
}

TEST(Operations, AllWhoWaitForReadinessShareOneQuestion) {
  int asked = 0, ready = 0;
  OneShotEvent released;
  OperationsHandlers handlers({.database_answers = [&]() -> Task<bool> {
                                 ++asked;
                                 co_await released.wait();
                                 co_return true;
                               },
                               .has_deployment = [] { return answer(true); }});
  asio::io_context loop;
  const auto ask = [&]() -> Task<void> {
    http::Request request;
    const http::Response response = co_await handlers.ready(request);
    ready += response.status == 200;
  };
  for (int i = 0; i < 50; ++i) spawn_detached(loop.get_executor(), ask);
  loop.poll();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(ready, 0);
  released.set();
  loop.run();
  EXPECT_EQ(ready, 50);
  test::run(ask());
  EXPECT_EQ(asked, 2) << "an answer is not kept";
}

TEST(Operations, MetricsAreWhatTheSourceWrites) {
  OperationsHandlers handlers({.metrics = [](MetricText& out) { out.sample("a", "", 1.5); }});
  http::Request request;
  EXPECT_EQ(std::get<std::string>(test::run(handlers.metrics(request)).body), "a 1.5\n");
}

TEST(Operations, TheDescriptionIsJsonAndThePageIsThere) {
  OperationsHandlers handlers({});
  http::Request request;
  const auto description = test::run(handlers.openapi(request));
  const Json json = Json::parse(std::get<std::string>(description.body));
  EXPECT_EQ(json["openapi"].get<std::string>().substr(0, 3), "3.1");
  EXPECT_TRUE(json["paths"].contains("/v1/sandboxes/{id}/exec"));
  const auto page = test::run(handlers.dashboard(request));
  EXPECT_NE(std::get<std::string>(page.body).find("</html>"), std::string::npos);
}

TEST(Operations, ThePageRunsNoOtherScript) {
  OperationsHandlers handlers({});
  http::Request request;
  const auto page = test::run(handlers.dashboard(request));
  const std::string text = std::get<std::string>(page.body);
  const size_t begin = text.find("<script>") + 8;
  const std::string script = text.substr(begin, text.find("</script>") - begin);
  const std::string hash = base64_encode(*from_hex(sha256_hex(script)));
  std::string policy;
  for (const auto& [name, value] : page.headers)
    if (name == "Content-Security-Policy") policy = value;
  EXPECT_NE(policy.find("script-src 'sha256-" + hash + "';"), std::string::npos) << policy;
}

TEST(Operations, YamlScalarsKeepTheirTypes) {
  EXPECT_EQ(openapi_json("a: 1\nb: '1'\nc: true\nd: no\ne: [1.5, null]\nf: '200'"),
            R"({"a":1,"b":"1","c":true,"d":"no","e":[1.5,null],"f":"200"})");
}

TEST(Operations, TheDocumentSaysWhichParametersARouteTakes) {
  const std::string document = openapi_json(R"(
    paths:
      /v1/a/{id}:
        parameters: [{name: id, in: path}, {name: Tenant, in: header}, {name: both, in: query}]
        get: {x-query-prefixes: [m.], parameters: [{$ref: '#/components/parameters/Limit'}]}
        delete: {}
    components: {parameters: {Limit: {name: limit, in: query}}})");
  http::Routes routes;
  const auto add = [&](http::Method method, std::string pattern) {
    routes.add({.method = method, .pattern = std::move(pattern), .handler = [](auto&) {
                  return Task<http::Response>();
                }});
  };
  add(http::Method::get, "/v1/a/{id}");
  add(http::Method::head, "/v1/a/{id}");
  add(http::Method::delete_, "/v1/a/{id}");
  add(http::Method::get, "/v1/undescribed");
  add(http::Method::get, "/elsewhere");
  const http::QueryNames names = query_names_of(document, routes);
  const auto refused = [&](http::Method method, const char* path, const char* query) {
    const http::Route* route = routes.match(method, path).route;
    return test::code_of([&] { names.check(*route, http::Query(query)); }) == ErrorCode::invalid;
  };
  for (const auto method : {http::Method::get, http::Method::head}) {
    EXPECT_FALSE(refused(method, "/v1/a/x", "limit=1&both=&m.=1&m.a=1&m.b.c=1&limit=2"));
    for (const char* wrong : {"id=1", "Tenant=1", "Limit=1", "m=1", "xm.a=1", "limit[]=1"})
      EXPECT_TRUE(refused(method, "/v1/a/x", wrong)) << wrong;
  }
  EXPECT_FALSE(refused(http::Method::delete_, "/v1/a/x", "both=1"));
  EXPECT_TRUE(refused(http::Method::delete_, "/v1/a/x", "limit=1"));
  EXPECT_TRUE(refused(http::Method::get, "/v1/undescribed", "a=1"));
  EXPECT_FALSE(refused(http::Method::get, "/v1/undescribed", "&"));
  EXPECT_FALSE(refused(http::Method::get, "/elsewhere", "a=1"));
}

}  // namespace
}  // namespace sandgate::api
