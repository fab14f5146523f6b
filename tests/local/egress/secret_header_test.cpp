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
  put_secrets(head, host, one_secret());
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
  for (const char* method : {"TRACE", "OPTIONS"})
    EXPECT_EQ(sent(request("Authorization", kPlaceholder, method)), kPlaceholder);
  const std::string cut = kPlaceholder.substr(0, kPlaceholder.size() - 1);
  EXPECT_EQ(sent(request("Authorization", cut)), cut);
  EXPECT_EQ(sent(request("Authorization", "Basic not base64")), "Basic not base64");
}

TEST(Mask, HidesValuesWhateverThePieces) {
  const SecretGrants secrets = one_secret();
  const std::string text = "You sent: real value and real valu and real real value.";
  const std::string wanted = "You sent: ********** and real valu and real **********.";
  for (size_t piece = 1; piece <= text.size(); ++piece) {
    Mask mask({&secrets.grants[0]});
    std::string shown;
    for (size_t at = 0; at < text.size(); at += piece) shown += mask.pass(text.substr(at, piece));
    EXPECT_EQ(shown + mask.rest(), wanted) << piece;
  }
  EXPECT_EQ(Mask().pass("real value"), "real value");
}

}  // namespace
}  // namespace sandgate::egress
