#include "providers/transport/aws_signature.hpp"

#include <gtest/gtest.h>

namespace sandgate::aws {
namespace {

const AwsSigner kSigner{"us-east-1", "service", Secret("AKIDEXAMPLE"),
                        Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")};
constexpr std::time_t kThen = 1440938160;  // 2015-08-30 12:36:00 UTC

std::string authorization_of(const HttpCall& call) {
  const HttpFields fields = signature_of(kSigner, call, kThen);
  EXPECT_EQ(find_field(fields, "X-Amz-Date"), "20150830T123600Z");
  return std::string(find_field(fields, "Authorization").value_or(""));
}

std::string signed_with(const std::string& names, const std::string& signature) {
  return "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
         "SignedHeaders=" +
         names + ", Signature=" + signature;
}

// The first of the published examples.
TEST(AwsSignature, IsThePublishedOne) {
  EXPECT_EQ(authorization_of({.url = "https://example.amazonaws.com/"}),
            signed_with("host;x-amz-date",
                        "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"));
}

TEST(AwsSignature, AUsualPortIsNoPartOfTheHost) {
  const std::string plain = authorization_of({.url = "https://example.amazonaws.com/"});
  EXPECT_EQ(authorization_of({.url = "https://example.amazonaws.com"}), plain);
  EXPECT_EQ(authorization_of({.url = "https://example.amazonaws.com:443/"}), plain);
  EXPECT_NE(authorization_of({.url = "https://example.amazonaws.com:80/"}), plain);
}

TEST(AwsSignature, CoversWhatIsSent) {
  const HttpCall call{.method = "POST",
                      .url = "http://127.0.0.1:8080/runtimes/arn%3Aa%2Fb/commands?qualifier=D",
                      .headers = {{"X-Amz-Security-Token", "token=="}, {"Accept", "text/plain"}},
                      .body = "{}"};
  EXPECT_EQ(authorization_of(call),
            signed_with("accept;host;x-amz-date;x-amz-security-token",
                        "b7c739fee8f07b9a6297c2b8ea9782ad9029e6a41bc88ca3af10fe83fc59c800"));
  for (auto change : {+[](HttpCall& c) { c.method = "PUT"; }, +[](HttpCall& c) { c.body = "[]"; },
                      +[](HttpCall& c) { c.headers[1].second = "text/html"; },
                      +[](HttpCall& c) { c.url += "&z=1"; }}) {
    HttpCall other = call;
    change(other);
    EXPECT_NE(authorization_of(other), authorization_of(call));
  }
}

}  // namespace
}  // namespace sandgate::aws
