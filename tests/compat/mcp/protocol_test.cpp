#include "gateway/compat/mcp/protocol.hpp"

#include <gtest/gtest.h>

#include "tests/support/code_of.hpp"

namespace sandgate::compat::mcp {
namespace {

http::Headers with(const std::string& name, const std::string& value) {
  http::Headers headers;
  headers.add(name, value);
  return headers;
}

bool may_speak(const std::string& origin, std::string_view allowed = "") {
  try {
    check_origin(with("Origin", origin), allowed);
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::forbidden);
    return false;
  }
}

TEST(McpProtocolTest, AnswersTheRevisionAskedForOrTheNewest) {
  for (const char* known : {"2025-03-26", "2025-06-18", "2025-11-25"})
    EXPECT_EQ(negotiated_version(known), known);
  for (const char* other : {"2024-11-05", "2099-01-01", ""})
    EXPECT_EQ(negotiated_version(other), "2025-11-25");
}

TEST(McpProtocolTest, RefusesRevisionsItDoesNotSpeak) {
  check_version({});
  check_version(with("mcp-protocol-version", "2025-06-18"));
  for (const char* unknown : {"2026-07-28", "1.0", ""})
    EXPECT_EQ(test::code_of([&] { check_version(with("MCP-Protocol-Version", unknown)); }),
              ErrorCode::invalid);
}

TEST(McpProtocolTest, PagesOfForeignSitesMayNotSpeak) {
  check_origin({}, "");
  for (const char* here : {"http://localhost", "http://localhost:3000", "https://LOCALHOST:1",
                           "http://127.0.0.1:8080", "http://[::1]:8080", "http://[::1]"})
    EXPECT_TRUE(may_speak(here)) << here;
  for (const char* there : {"http://example.com", "http://localhost.example.com", "null", "",
                            "http://127.0.0.1.example.com:8080", "http://[::1", "file://localhost",
                            "http://example.com:8080/localhost", "http://[::2]:80"})
    EXPECT_FALSE(may_speak(there)) << there;
}

TEST(McpProtocolTest, ListedOriginsMaySpeak) {
  const std::string_view list = "https://a.example.com, https://b.example.com:8443";
  EXPECT_TRUE(may_speak("https://a.example.com", list));
  EXPECT_TRUE(may_speak("https://b.example.com:8443", list));
  EXPECT_FALSE(may_speak("https://b.example.com", list));
  EXPECT_FALSE(may_speak("http://a.example.com", list));
  EXPECT_FALSE(may_speak("", ","));
}

TEST(McpProtocolTest, OffersToolsAndNothingElse) {
  const Json result = initialize_result("2025-06-18", "1.2.3", true);
  EXPECT_EQ(result.at("protocolVersion"), "2025-06-18");
  EXPECT_EQ(result.at("capabilities"), Json({{"tools", Json::object()}}));
  EXPECT_EQ(result.at("serverInfo").at("version"), "1.2.3");
  EXPECT_NE(result.at("instructions"),
            initialize_result("2025-06-18", "1", false).at("instructions"));
}

}  // namespace
}  // namespace sandgate::compat::mcp
