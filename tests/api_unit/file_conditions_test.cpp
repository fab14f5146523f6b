#include "gateway/api/file_conditions.hpp"

#include <gtest/gtest.h>

#include "providers/transport/http_client.hpp"

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

TEST(FileConditions, TagsCompareAsTheirHeaderSays) {
  EXPECT_TRUE(matches_tag("\"a\", W/\"b\"", "\"b\""));
  EXPECT_TRUE(matches_tag("\"b\"", "W/\"b\""));
  EXPECT_TRUE(matches_tag("*", "\"b\""));
  EXPECT_FALSE(matches_tag("\"a\"", "\"b\""));
  EXPECT_TRUE(matches_tag_strongly("\"a\" , \"b\"", "\"b\""));
  EXPECT_TRUE(matches_tag_strongly("*", "W/\"b\""));
  EXPECT_FALSE(matches_tag_strongly("W/\"b\"", "\"b\""));
  EXPECT_FALSE(matches_tag_strongly("W/\"b\"", "W/\"b\""));
}

TEST(FileConditions, OnlyARevisionMakesATagStrong) {
  FileEntry entry{.size = 3, .modified_at = from_micros(1'700'000'000'000'000)};
  EXPECT_EQ(entity_tag(entry), "W/\"3-60a24181e4000\"");
  entry.revision = "1a.2b";
  EXPECT_EQ(entity_tag(entry), "\"3-60a24181e4000-1a.2b\"");
  for (const char* bad : {"a\"b", "a,b", "a b", "a\r\nb", "\xff"}) {
    entry.revision = bad;
    EXPECT_EQ(entity_tag(entry), "W/\"3-60a24181e4000\"");
  }
}

// Of a request with these fields.
Conditions conditions(const HttpFields& fields) {
  static http::Headers headers;
  headers = http::Headers();
  for (const auto& [name, value] : fields) headers.add(name, value);
  return Conditions(headers);
}

TEST(FileConditions, WritesAreAllowedByWhatIsThere) {
  FileEntry file{.size = 3, .revision = "r"}, vague{.size = 3};
  const std::optional<FileEntry> there(file), none;
  const std::string tag = entity_tag(file), other = "\"a\"";
  EXPECT_FALSE(conditions({}).any());
  EXPECT_TRUE(conditions({}).allow_write(there));
  EXPECT_TRUE(conditions({{"If-Match", tag}}).allow_write(there));
  EXPECT_TRUE(conditions({{"If-Match", "*"}}).allow_write(there));
  EXPECT_TRUE(conditions({{"If-None-Match", "*"}}).allow_write(none));
  EXPECT_TRUE(conditions({{"If-None-Match", other}}).allow_write(there));
  EXPECT_FALSE(conditions({{"If-Match", other}}).allow_write(there));
  EXPECT_FALSE(conditions({{"If-Match", "W/" + tag}}).allow_write(there));
  EXPECT_FALSE(conditions({{"If-Match", entity_tag(vague)}}).allow_write(vague));
  EXPECT_FALSE(conditions({{"If-Match", "*"}}).allow_write(none));
  EXPECT_FALSE(conditions({{"If-None-Match", "*"}}).allow_write(there));
  EXPECT_FALSE(conditions({{"If-None-Match", "W/" + tag}}).allow_write(there));
}

TEST(FileConditions, EveryLineOfAListCounts) {
  const FileEntry file{.size = 3, .revision = "r"};
  const std::optional<FileEntry> there(file);
  const std::string tag = entity_tag(file), other = "\"a\"";
  EXPECT_TRUE(conditions({{"If-Match", other}, {"If-Match", tag}}).allow_write(there));
  EXPECT_FALSE(conditions({{"If-None-Match", other}, {"If-None-Match", tag}}).allow_write(there));
  EXPECT_FALSE(conditions({{"If-None-Match", other}, {"If-None-Match", "*"}}).allow_write(there));
}

TEST(FileConditions, AFileIsExpectedNotToBeYoungerThanADate) {
  const FileEntry file{.modified_at = *from_rfc3339("2026-11-22T10:00:00.7Z"), .revision = "r"};
  const auto expect = [&](const HttpFields& fields) { return conditions(fields).expect(file); };
  EXPECT_TRUE(expect({{"If-Unmodified-Since", "Sun, 22 Nov 2026 10:00:00 GMT"}}));
  EXPECT_FALSE(expect({{"If-Unmodified-Since", "Sun, 22 Nov 2026 09:59:59 GMT"}}));
  EXPECT_TRUE(expect({{"If-Unmodified-Since", "Sunday, 22-Nov-26 10:00:00 GMT"}}));
  EXPECT_FALSE(expect({{"If-Unmodified-Since", "Sunday, 22-Nov-26 09:59:59 GMT"}}));
  EXPECT_TRUE(expect({{"If-Unmodified-Since", "Sun Nov 22 10:00:00 2026"}}));
  EXPECT_FALSE(expect({{"If-Unmodified-Since", "Sun Nov 22 09:59:59 2026"}}));
  EXPECT_TRUE(expect({{"If-Unmodified-Since", "yesterday"}})) << "which says nothing";
  EXPECT_TRUE(expect(
      {{"If-Match", entity_tag(file)}, {"If-Unmodified-Since", "Sun, 22 Nov 2026 09:59:59 GMT"}}))
      << "the tag says more";
}

TEST(FileConditions, AReaderKnowsAFileByItsTagOrElseByItsDate) {
  const FileEntry file{.modified_at = *from_rfc3339("2026-11-22T10:00:00.7Z"), .revision = "r"};
  const auto known = [&](const HttpFields& fields) { return conditions(fields).is_known(file); };
  const char* same = "Sun, 22 Nov 2026 10:00:00 GMT";
  EXPECT_FALSE(known({}));
  EXPECT_TRUE(known({{"If-Modified-Since", same}}));
  EXPECT_FALSE(known({{"If-Modified-Since", "Sun, 22 Nov 2026 09:59:59 GMT"}}));
  EXPECT_FALSE(known({{"If-Modified-Since", "yesterday"}})) << "which says nothing";
  EXPECT_FALSE(known({{"If-Modified-Since", same}, {"If-None-Match", "\"x\""}}));
  EXPECT_TRUE(known({{"If-Modified-Since", "yesterday"}, {"If-None-Match", entity_tag(file)}}));
}

TEST(FileConditions, APartIsOfTheVersionThatIsNamed) {
  FileEntry file{.modified_at = *from_rfc3339("2026-11-22T10:00:00.7Z"), .revision = "r"};
  EXPECT_TRUE(matches_version(entity_tag(file), file));
  EXPECT_FALSE(matches_version("\"x\"", file));
  EXPECT_TRUE(matches_version("Sun, 22 Nov 2026 10:00:00 GMT", file));
  EXPECT_FALSE(matches_version("Sun, 22 Nov 2026 10:00:01 GMT", file)) << "younger is not the same";
  EXPECT_FALSE(matches_version("Sun, 22 Nov 2026 09:59:59 GMT", file));
}

TEST(FileConditions, ANameCannotLeaveItsHeader) {
  const std::string header = content_disposition("a\"\r\nSet-Cookie: x;\xC3\xBC.txt");
  EXPECT_EQ(header.find('\n'), std::string::npos);
  EXPECT_EQ(std::count(header.begin(), header.end(), '"'), 2);
  EXPECT_NE(header.find("%0D%0A"), std::string::npos);
}

}  // namespace
}  // namespace sandgate::api
