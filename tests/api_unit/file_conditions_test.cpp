#include "gateway/api/file_conditions.hpp"

#include <gtest/gtest.h>

namespace sandgate::api {
namespace {

TEST(FileConditions, RangesThatCannotBeReadAreNone) {
  for (const char* text : {"", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-2", "bytes=0-1,3-4",
                           "lines=0-1", "bytes=-1-2", "bytes=1x-"})
    EXPECT_FALSE(range_from(text)) << text;
}

TEST(FileConditions, RangesResolveAgainstTheSize) {
  const auto part = [](const char* text, uint64_t size) {
    return resolve(*range_from(text), size);
  };
  EXPECT_EQ(part("bytes=0-", 10)->last, 9u);
  EXPECT_EQ(part("bytes=-20", 10)->first, 0u);
  EXPECT_EQ(part("BYTES=2-3", 10)->first, 2u);
  EXPECT_EQ(part("bytes=2-99999999999999999999", 10)->last, 9u);
  EXPECT_EQ(part("bytes=-99999999999999999999", 10)->first, 0u);
  EXPECT_FALSE(part("bytes=10-", 10));
  EXPECT_FALSE(part("bytes=99999999999999999999-", 10));
  EXPECT_FALSE(part("bytes=-0", 10));
  EXPECT_FALSE(part("bytes=0-", 0));
}

TEST(FileConditions, TagsCompareWeakly) {
  EXPECT_TRUE(names_tag("\"a\", W/\"b\"", "\"b\""));
  EXPECT_TRUE(names_tag("*", "\"b\""));
  EXPECT_FALSE(names_tag("\"a\"", "\"b\""));
}

TEST(FileConditions, WritesAreAllowedByWhatIsThere) {
  const std::string tag = "\"b\"", weak = "W/\"b\"", other = "\"a\"";
  const std::optional<std::string> there(tag), none;
  EXPECT_TRUE(may_write({}, {}, there));
  EXPECT_TRUE(may_write(tag, {}, there));
  EXPECT_TRUE(may_write("*", {}, there));
  EXPECT_TRUE(may_write({}, "*", none));
  EXPECT_TRUE(may_write({}, other, there));
  EXPECT_FALSE(may_write(other, {}, there));
  EXPECT_FALSE(may_write(weak, {}, there)) << "strong comparison";
  EXPECT_FALSE(may_write("*", {}, none));
  EXPECT_FALSE(may_write(tag, {}, none));
  EXPECT_FALSE(may_write({}, "*", there));
  EXPECT_FALSE(may_write({}, weak, there));
}

TEST(FileConditions, ANameCannotLeaveItsHeader) {
  const std::string header = content_disposition("a\"\r\nSet-Cookie: x;\xC3\xBC.txt");
  EXPECT_EQ(header.find('\n'), std::string::npos);
  EXPECT_EQ(std::count(header.begin(), header.end(), '"'), 2);
  EXPECT_NE(header.find("%0D%0A"), std::string::npos);
}

}  // namespace
}  // namespace sandgate::api
