#include <gtest/gtest.h>

#include "tests/http/live_server.hpp"

namespace sandgate {
namespace {

using test::LiveServer;
using test::RawClient;
using test::says;

TEST(NoBody, AnEmptyObjectIsTakenForNone) {
  http::Routes routes;
  for (const auto method : {http::Method::get, http::Method::delete_})
    routes.add({method, "/v1/thing", http::Permission::read, http::BodyMode::none, says("done")});
  LiveServer server(std::move(routes));
  const auto ask = [&](const std::string& method, const std::string& framed) {
    return RawClient(server.port())
        .ask(method + " /v1/thing HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n" +
             "Content-Type: application/json\r\n" + framed);
  };
  const auto sized = [](const std::string& body) {
    return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  };
  const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n";
  const std::string padded = "{" + std::string(62, ' ') + "}";
  for (const std::string& framed :
       {sized(""), sized("{}"), sized(" {\n}\r\n"), sized(padded), chunked}) {
    EXPECT_EQ(ask("DELETE", framed).status, 200) << framed;
    EXPECT_EQ(ask("GET", framed).status, 200) << framed;
  }
  const std::vector<std::string> refused = {"{\"recursive\":true}",
                                            "null",
                                            "[]",
                                            "\"\"",
                                            "0",
                                            "{",
                                            "{}{}",
                                            " ",
                                            "a=1",
                                            "\xff",
                                            padded + " "};
  for (const std::string& body : refused) {
    EXPECT_EQ(ask("DELETE", sized(body)).status, 400) << body;
    EXPECT_EQ(ask("GET", sized(body)).status, 400) << body;
  }
}

}  // namespace
}  // namespace sandgate
