#include "gateway/core/webhook_signature.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

using namespace std::chrono_literals;

TEST(WebhookSignature, IsHmacOverTimeAndBody) {
  // echo -n '1700000000.{"a":1}' | openssl dgst -sha256 -hmac 'it is a secret'
  EXPECT_EQ(webhook_signature(Secret("it is a secret"), Time(1'700'000'000s + 1us), R"({"a":1})"),
            "t=1700000000,v1=e13ca661150ed628f4ae657a91356a99ce1d89519ed99c20a90f567c6f061275");
  const auto sign = [](const char* secret, Time at) {
    return webhook_signature(Secret(secret), at, "x");
  };
  EXPECT_NE(sign("other", Time(1s)), sign("o", Time(1s)));
  EXPECT_NE(sign("o", Time(1s)), sign("o", Time(2s)));
}

}  // namespace
}  // namespace sandgate
