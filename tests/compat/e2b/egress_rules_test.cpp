#include "gateway/compat/e2b/egress_rules.hpp"

#include <gtest/gtest.h>

#include "gateway/core/document_reader.hpp"
#include "gateway/core/error.hpp"

namespace sandgate::compat::e2b {
namespace {

// The policy, or the path of what was refused.
Json asked(const char* text, std::optional<bool> internet = std::nullopt) {
  const Json rules = Json::parse(text);
  DocumentReader reader(rules);
  const Json policy = egress_rules_from(reader, internet);
  try {
    reader.finish_or_throw();
  } catch (const Error& error) {
    return error.fields.front().path;
  }
  return policy;
}

TEST(EgressRules, AreOpenOrClosedOrNarrow) {
  const Json closed{{"default", "deny"}, {"allow", Json::array()}}, open{{"default", "allow"}};
  EXPECT_EQ(asked("{}"), Json()) << "as the profile says";
  EXPECT_EQ(asked("{}", true), open);
  EXPECT_EQ(asked("{}", false), closed);
  EXPECT_EQ(asked(R"({"denyOut":["0.0.0.0/0"],"allowOut":[]})"), closed);
  EXPECT_EQ(asked(R"({"denyOut":["0.0.0.0/0"]})", true), closed);
  const Json narrow = Json::parse(
      R"({"default":"deny","allow":["example.com:80","example.com:443","*.a.example:80","*.a.example:443"]})");
  EXPECT_EQ(asked(R"({"denyOut":["0.0.0.0/0"],"allowOut":["example.com","*.a.example"]})"), narrow);
  EXPECT_EQ(asked(R"({"allowOut":["example.com"]})", false)["default"], "deny");
}

TEST(EgressRules, RefuseWhatTheyCannotKeep) {
  for (const char* host : {"192.0.2.1", "192.0.2.0/24", "2001:db8::1", "*", "*.*.example", "a:443"})
    EXPECT_EQ(
        asked((R"({"denyOut":["0.0.0.0/0"],"allowOut":[")" + std::string(host) + R"("]})").c_str()),
        "/allowOut/0")
        << host;
  EXPECT_EQ(asked(R"({"allowOut":["example.com"]})"), "/allowOut") << "it would stay open";
  EXPECT_EQ(asked(R"({"denyOut":["0.0.0.0/0","192.0.2.1"]})"), "/denyOut/1");
  EXPECT_EQ(asked(R"({"denyOut":"0.0.0.0/0"})"), "/denyOut");
}

TEST(EgressRules, AreShownAsTheyWereAskedFor) {
  const auto told = [](const char* overrides) { return internet_from(Json::parse(overrides)); };
  EXPECT_EQ(told(R"({"network":{"default":"allow"}})"), true);
  EXPECT_EQ(told(R"({"network":{"default":"deny","allow":["a.example:443"]}})"), false);
  for (const char* silent : {"{}", R"({"network":null})", R"({"network":{"allow":[]}})",
                             R"({"network":{"default":null}})"})
    EXPECT_EQ(told(silent), std::nullopt) << silent;
}

}  // namespace
}  // namespace sandgate::compat::e2b
