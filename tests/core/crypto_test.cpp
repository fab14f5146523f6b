#include "gateway/core/crypto.hpp"

#include <gtest/gtest.h>

#include "gateway/core/error.hpp"

namespace sandgate {
namespace {

TEST(Digest, MatchesPublishedVectors) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hmac_sha256_hex(Secret("Jefe"), "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  // RFC 4122's DNS namespace with the name of its own example.
  EXPECT_EQ(uuid_v5("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com"),
            "2ed6657d-e927-568b-95e1-2665a8aea6a2");
}

TEST(Base64, GoesThereAndBackAndIsStrict) {
  for (const std::string& bytes : {std::string(), std::string("a"), std::string("ab"),
                                   std::string("abc"), std::string("\0\xff\n", 3)})
    EXPECT_EQ(base64_decode(base64_encode(bytes)), bytes);
  for (const char* bad : {"a", "ab=c", "====", "YQ", "Y Q=", "YQ==\n"})
    EXPECT_FALSE(base64_decode(bad)) << bad;
}

TEST(Cipher, OpensOnlyWithTheSameKeyAndContext) {
  const Cipher cipher(Secret(std::string(32, 'k')));
  const std::string sealed = cipher.seal(Secret("token"), "deployment/a");
  EXPECT_EQ(sealed.find("token"), std::string::npos);
  EXPECT_EQ(cipher.open(sealed, "deployment/a").reveal(), "token");
  EXPECT_NE(cipher.seal(Secret("token"), "deployment/a"), sealed);
  EXPECT_THROW(cipher.open(sealed, "deployment/b"), Error);
  EXPECT_THROW(Cipher(Secret(std::string(32, 'x'))).open(sealed, "deployment/a"), Error);
  std::string broken = sealed;
  broken.back() ^= 1;
  EXPECT_THROW(cipher.open(broken, "deployment/a"), Error);
  EXPECT_THROW(Cipher(Secret("short")), Error);
}

}  // namespace
}  // namespace sandgate
