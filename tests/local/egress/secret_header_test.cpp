#include "local/egress/secret_header.hpp"

#include <gtest/gtest.h>

#include "gateway/core/crypto.hpp"

namespace sandgate::egress {
namespace {

const std::string kPlaceholder = "sgs_0123456789abcdef0123456789abcdef";

SecretGrants one_secret() {
  return {"1", {{"KEY", "api.example.com", "Authorization", kPlaceholder, Secret("real value")}}};
}

RequestHead request(const std::string& name, const std::string& value,
                    const std::string& method = "GET") {
  RequestHead head;
  head.method = method;
  head.target = "/" + kPlaceholder;
  head.fields = {{"Host", "api.example.com"}, {name, value}};
  return head;
}

std::string sent(RequestHead head, const std::string& host = "api.example.com") {
  substitute_secrets(head, host, one_secret());
  EXPECT_EQ(head.target, "/" + kPlaceholder);
  return head.fields[1].value;
}

TEST(SecretHeader, PutsTheValueInTheDeclaredHeader) {
  EXPECT_EQ(sent(request("authorization", "Bearer " + kPlaceholder)), "Bearer real value");
  EXPECT_EQ(sent(request("Authorization", kPlaceholder)), "real value");
  EXPECT_EQ(sent(request("Authorization", "Basic " + base64_encode("user:" + kPlaceholder))),
            "Basic " + base64_encode("user:real value"));
}

TEST(SecretHeader, LeavesEverythingElseAlone) {
  for (const char* name : {"X-Api-Key", "User-Agent", "Cookie", "Referer"})
    EXPECT_EQ(sent(request(name, kPlaceholder)), kPlaceholder);
  EXPECT_EQ(sent(request("Authorization", kPlaceholder), "other.example.com"), kPlaceholder);
  for (const char* method : {"TRACE", "TraCe", "TRACK", "track", "OPTIONS"})
    EXPECT_EQ(sent(request("Authorization", kPlaceholder, method)), kPlaceholder);
  EXPECT_EQ(sent(request("Authorization", "Basic not base64")), "Basic not base64");
}

std::string_view wrong_with(RequestHead head, const SecretGrants& secrets = one_secret()) {
  return substitute_secrets(head, "api.example.com", secrets).wrong;
}

TEST(SecretHeader, RefusesWhatLooksLikeAPlaceholderAndIsNone) {
  const std::string cut = kPlaceholder.substr(0, kPlaceholder.size() - 1);
  const std::string other = "sgs_ffffffffffffffffffffffffffffffff";
  for (const std::string& word : {cut, other, "Bearer " + other, kPlaceholder + " " + cut,
                                  "Basic " + base64_encode("user:" + cut)})
    EXPECT_EQ(wrong_with(request("Authorization", word)), "unknown_placeholder") << word;
  EXPECT_EQ(wrong_with(request("Authorization", "Bearer " + kPlaceholder)), "");
  EXPECT_EQ(wrong_with(request("Authorization", other, "OPTIONS")), "");
  EXPECT_EQ(wrong_with(request("X-Api-Key", other)), "");
  // One of another host is none here.
  SecretGrants secrets = one_secret();
  secrets.grants.push_back({"OTHER", "else.example.com", "Authorization", other, Secret("o")});
  EXPECT_EQ(wrong_with(request("Authorization", other), secrets), "unknown_placeholder");
  secrets.grants.back().host = "api.example.com";
  EXPECT_EQ(wrong_with(request("Authorization", other + kPlaceholder), secrets), "");
}

TEST(SecretHeader, PutsValuesInAFewPlacesOnly) {
  const auto many = [](size_t count) {
    RequestHead head = request("Authorization", "");
    for (size_t i = 0; i < count; ++i) head.fields.push_back({"Authorization", kPlaceholder});
    return head;
  };
  EXPECT_EQ(wrong_with(many(8)), "");
  EXPECT_EQ(wrong_with(many(9)), "too_many_placeholders");
  std::string row;
  for (int i = 0; i < 9; ++i) row += kPlaceholder;
  EXPECT_EQ(wrong_with(request("Authorization", row)), "too_many_placeholders");
}

TEST(SecretHeader, ReadsNoValueAsAPlaceholder) {
  SecretGrants secrets = one_secret();
  secrets.grants[0].value = Secret("sgs_is how mine begins");
  RequestHead head = request("Authorization", kPlaceholder);
  EXPECT_EQ(substitute_secrets(head, "api.example.com", secrets).wrong, "");
  EXPECT_EQ(head.fields[1].value, "sgs_is how mine begins");
}

TEST(SecretHeader, NamesTheCredentialsThatTellAValue) {
  const auto credentials = [](RequestHead head) {
    std::vector<std::string> texts;
    const SubstitutedSecrets substituted =
        substitute_secrets(head, "api.example.com", one_secret());
    for (const auto& one : substituted.hidden) texts.push_back(one->value.reveal());
    return texts;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(credentials(request("Authorization", kPlaceholder)), Texts());
  EXPECT_EQ(credentials(request("Authorization", "Basic " + base64_encode("u:" + kPlaceholder))),
            Texts{base64_encode("u:real value")});
}

}  // namespace
}  // namespace sandgate::egress
