#include "gateway/core/field_text.hpp"

#include <gtest/gtest.h>

#include "gateway/core/connection_names.hpp"

namespace sandgate {
namespace {

TEST(FieldText, ComparesAsciiLettersOnly) {
  EXPECT_TRUE(equal_ignoring_case("Content-Type", "content-TYPE"));
  EXPECT_TRUE(equal_ignoring_case("", ""));
  EXPECT_FALSE(equal_ignoring_case("a", "ab"));
  EXPECT_FALSE(equal_ignoring_case("@[", "`{")) << "what stands beside the letters";
  EXPECT_FALSE(equal_ignoring_case("\xC3\x84", "\xC3\xA4"));
}

TEST(FieldText, LowersAsciiLettersOnly) {
  EXPECT_EQ(ascii_lower("X-API-Key @[`{ \xC3\x84"), "x-api-key @[`{ \xC3\x84");
}

TEST(FieldText, ComparesBeginnings) {
  EXPECT_TRUE(starts_with_ignoring_case("bearer x", "Bearer "));
  EXPECT_TRUE(starts_with_ignoring_case("BEARER ", "Bearer "));
  EXPECT_TRUE(starts_with_ignoring_case("x", ""));
  EXPECT_FALSE(starts_with_ignoring_case("Bearer", "Bearer "));
  EXPECT_FALSE(starts_with_ignoring_case("", "Bearer "));
}

TEST(FieldText, TrimsSpacesAndTabs) {
  EXPECT_EQ(trimmed(" \ta b\t "), "a b");
  EXPECT_EQ(trimmed("\r\n"), "\r\n");
  EXPECT_EQ(trimmed(" \t"), "");
}

TEST(ConnectionNames, AreFewAndOfAnyCase) {
  ConnectionNames names;
  EXPECT_TRUE(names.add("close, ,X-A\t,"));
  EXPECT_TRUE(names.has("x-a"));
  EXPECT_FALSE(names.has(""));
  for (size_t i = 2; i < ConnectionNames::kMaxNames; ++i) EXPECT_TRUE(names.add("x"));
  EXPECT_TRUE(names.add(" , "));
  EXPECT_FALSE(names.add("x"));
}

}  // namespace
}  // namespace sandgate
