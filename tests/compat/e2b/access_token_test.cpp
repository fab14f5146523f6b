#include "gateway/compat/e2b/access_token.hpp"

#include <gtest/gtest.h>

namespace sandgate::compat::e2b {
namespace {

TEST(AccessTokens, BelongToOneSandboxOfOneInstallation) {
  const AccessTokens tokens(Secret("key")), others(Secret("another key"));
  const SandboxId one = SandboxId::make(), two = SandboxId::make();
  EXPECT_TRUE(tokens.verifies(one, tokens.token_of(one)));
  EXPECT_FALSE(tokens.verifies(two, tokens.token_of(one)));
  EXPECT_FALSE(others.verifies(one, tokens.token_of(one)));
  EXPECT_FALSE(tokens.verifies(one, ""));
}

// The first is a published one of the client's own tests.
TEST(Signatures, AreThoseOfTheClients) {
  const std::string token = "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0";
  const SignedFile file{.path = "hello.txt", .user = "user"};
  EXPECT_EQ(signature_of(file, token), "v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E");
  SignedFile other = file;
  other.writes = true;
  EXPECT_NE(signature_of(other, token), signature_of(file, token));
  other = file;
  other.expiration = "1";
  EXPECT_NE(signature_of(other, token), signature_of(file, token));
}

}  // namespace
}  // namespace sandgate::compat::e2b
