#include "gateway/core/time.hpp"

#include <gtest/gtest.h>

#include "gateway/core/file_time.hpp"

namespace sandgate {
namespace {

TEST(Rfc3339, GoesThereAndBack) {
  for (const char* text : {"2026-11-20T08:09:10Z", "1970-01-01T00:00:00Z",
                           "2024-02-29T23:59:59.000001Z", "9999-12-31T23:59:59.999999Z"})
    EXPECT_EQ(to_rfc3339(*from_rfc3339(text)), text);
  EXPECT_EQ(optional_rfc3339(Time()), "1970-01-01T00:00:00Z");
  EXPECT_EQ(optional_rfc3339(std::nullopt), std::nullopt);
}

TEST(Rfc3339, ReadsOffsets) {
  EXPECT_EQ(to_rfc3339(*from_rfc3339("2026-11-20T08:00:00+02:00")), "2026-11-20T06:00:00Z");
  EXPECT_EQ(to_rfc3339(*from_rfc3339("2026-11-20T08:00:00.5-00:30")),
            "2026-11-20T08:30:00.500000Z");
}

TEST(Rfc3339, RefusesWhatIsNotATime) {
  for (const char* text :
       {"", "2026-11-20", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-20T24:00:00Z",
        "2026-11-20T08:00:00", "2026-11-20T08:00:00.Z", "2026-11-20T08:00:00Zx", "now",
        "0000-06-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-00:01",
        "9999-12-31T23:59:60Z", "2026-11-20T12:34:60Z", "2026-11-20T23:59:60+01:00"})
    EXPECT_FALSE(from_rfc3339(text)) << text;
}

TEST(Rfc3339, LeapSecondsAreAtTheEndOfADay) {
  for (const char* text : {"2016-12-31T23:59:60Z", "2016-12-31T18:59:60-05:00"})
    EXPECT_EQ(to_rfc3339(*from_rfc3339(text)), "2017-01-01T00:00:00Z");
}

TEST(FileTime, IsOneThatCanBeWrittenAndRead) {
  EXPECT_EQ(file_time(1'795'162'150), from_rfc3339("2026-11-20T08:09:10Z"));
  for (const int64_t seconds : {INT64_MIN, int64_t{-62'135'596'800}})
    EXPECT_EQ(file_time(seconds), from_rfc3339("0001-01-02T00:00:00Z"));
  for (const int64_t seconds : {INT64_MAX, int64_t{253'402'300'800}})
    EXPECT_EQ(file_time(seconds), from_rfc3339("9999-12-31T23:59:59Z"));
}

}  // namespace
}  // namespace sandgate
