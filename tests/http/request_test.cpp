#include "gateway/http/request.hpp"

#include <gtest/gtest.h>

#include "gateway/core/percent.hpp"
#include "gateway/http/table_body.hpp"
#include "gateway/http/target.hpp"
#include "gateway/http/token.hpp"

namespace sandgate::http {
namespace {

TEST(Query, DecodesInOrder) {
  const Query query("a=1&b&c=x+y%26z&&a=2&%3d=%3D&e=");
  const std::vector<std::pair<std::string, std::string>> expected{
      {"a", "1"}, {"b", ""}, {"c", "x y&z"}, {"a", "2"}, {"=", "="}, {"e", ""}};
  EXPECT_EQ(query.items(), expected);
  EXPECT_EQ(query.find("c"), "x y&z");
  EXPECT_THROW(query.find("a"), Error) << "which of the two is meant, nobody knows";
  EXPECT_FALSE(query.find("z"));
}

TEST(Query, FlagsAreTrueOrFalseAndNothingElse) {
  EXPECT_TRUE(Query("a=true").flag("a"));
  EXPECT_FALSE(Query("a=false").flag("a"));
  EXPECT_FALSE(Query("b=true").flag("a"));
  for (const char* bad : {"a", "a=", "a=flase", "a=0", "a=1", "a=yes", "a=True", "a=true+"}) {
    try {
      (void)Query(bad).flag("a");
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::invalid) << bad;
      EXPECT_EQ(error.fields.at(0).path, "/a") << bad;
    }
  }
}

TEST(Query, RefusesWhatIsNotText) {
  const auto path = [](const char* query) -> std::string {
    try {
      (void)Query(query);
      return "none";
    } catch (const Error& error) {
      return error.fields.at(0).path;
    }
  };
  for (const char* bad : {"a=%", "b=1&a=%4", "a=%zz", "a=%00", "a=%ff"})
    EXPECT_EQ(path(bad), "/a") << bad;
  EXPECT_EQ(path("%C3%28=1"), "");
  std::string many;
  for (int i = 0; i < 300; ++i) many += "a&";
  EXPECT_THROW(Query{many}, Error);
}

TEST(Query, ReadsIntegersWithinLimits) {
  EXPECT_EQ(Query("n=7").integer("n", 1, 10, 5), 7);
  EXPECT_EQ(Query("").integer("n", 1, 10, 5), 5);
  for (const char* bad : {"n=", "n=0", "n=11", "n=1x", "n=+1", "n=99999999999999999999"})
    EXPECT_THROW(Query(bad).integer("n", 1, 10, 5), Error) << bad;
}

TEST(Headers, IgnoreCase) {
  Headers headers;
  headers.add("Content-Type", "a");
  headers.add("content-type", "b");
  EXPECT_EQ(headers.find("CONTENT-TYPE"), "a");
  EXPECT_FALSE(headers.find("Content"));
}

TEST(Headers, JoinTheLinesOfAList) {
  Headers headers;
  headers.add("Accept", "a;q=1, b");
  headers.add("Content-Type", "x");
  headers.add("accept", "c");
  EXPECT_EQ(headers.list("ACCEPT"), "a;q=1, b, c");
  EXPECT_EQ(headers.list("Content-Type"), "x");
  EXPECT_FALSE(headers.list("Content"));
}

TEST(Request, ReadsItsBodyAndTenant) {
  Request request;
  EXPECT_EQ(request.json_or_empty(), Json::object());
  EXPECT_THROW((void)request.json(), Error);
  request.body = "null";
  EXPECT_EQ(request.json_or_empty(), Json()) << "a body that is no object, unlike none";
  request.body = "{\"a\":1}";
  EXPECT_EQ(request.json(), request.json_or_empty());
  request.body = "{\"a\":1,\"a\":2}";
  EXPECT_THROW((void)request.json(), Error);
  request.body = std::string("{}\0", 3);
  EXPECT_THROW((void)request.json(), Error);
  request.body = "[" + std::string(39'999, '0');
  for (size_t i = 2; i < request.body.size(); i += 2) request.body[i] = ',';
  request.body += "]";
  EXPECT_THROW((void)request.json(), Error);
  EXPECT_EQ(table_in(request).size(), 20'000u);
  request.body = "";
  EXPECT_THROW((void)table_in(request), Error);
  EXPECT_THROW((void)request.tenant(), Error);
  request.caller.tenant = TenantId::make();
  EXPECT_EQ(request.tenant(), *request.caller.tenant);
}

TEST(Request, KnowsAWebSocketUpgrade) {
  Request request;
  request.headers.add("Connection", "keep-alive, Upgrade");
  EXPECT_FALSE(request.is_websocket_upgrade());
  request.headers.add("Upgrade", "WebSocket");
  EXPECT_FALSE(request.is_websocket_upgrade());
  request.headers.add("Sec-WebSocket-Version", "13");
  request.headers.add("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
  EXPECT_TRUE(request.is_websocket_upgrade());
  request.method = Method::post;
  EXPECT_FALSE(request.is_websocket_upgrade());
}

TEST(Request, KnowsAWebSocketUpgradeOnSeveralLines) {
  Request request;
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"Connection", "keep-alive"},
           {"Upgrade", "h2c"},
           {"Connection", "Upgrade"},
           {"Upgrade", "websocket"},
           {"Sec-WebSocket-Version", "13"},
           {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}})
    request.headers.add(name, value);
  EXPECT_TRUE(request.is_websocket_upgrade());
}

TEST(Target, SplitsEveryForm) {
  EXPECT_EQ(split_target("/a/b?c=d?e").path, "/a/b");
  EXPECT_EQ(split_target("/a/b?c=d?e").query, "c=d?e");
  EXPECT_EQ(split_target("http://host:80/a?b").path, "/a");
  EXPECT_EQ(split_target("HTTPS://host").path, "/");
  EXPECT_EQ(split_target("http://host?q=1").query, "q=1");
  EXPECT_EQ(split_target("*").path, "*");
  for (const char* bad : {"a", "", "host:80", "ftp://h/", "/a#b"})
    EXPECT_THROW((void)split_target(bad), Error) << bad;
}

TEST(Token, KnowsTraceparents) {
  EXPECT_TRUE(is_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
  EXPECT_FALSE(is_traceparent("00-00000000000000000000000000000000-00f067aa0ba902b7-01"));
  EXPECT_FALSE(is_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"));
  EXPECT_FALSE(is_traceparent("00-4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
  EXPECT_FALSE(is_traceparent("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
  EXPECT_FALSE(is_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x"));
}

TEST(Token, ReadsLists) {
  EXPECT_TRUE(has_token("keep-alive ,\tUPGRADE", "upgrade"));
  EXPECT_FALSE(has_token("upgrades", "upgrade"));
  EXPECT_FALSE(has_token("", "upgrade"));
}

TEST(Percent, KeepsPlusOnlyInPaths) {
  EXPECT_EQ(percent_decode("a+b%2B"), "a+b+");
  EXPECT_EQ(form_decode("a+b%2B"), "a b+");
}

}  // namespace
}  // namespace sandgate::http
