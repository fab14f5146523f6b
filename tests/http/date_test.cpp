#include "gateway/http/date.hpp"

#include <gtest/gtest.h>

namespace sandgate::http {
namespace {

const Time kNow = *from_rfc3339("2026-11-22T10:00:00Z");

std::string read(std::string_view text, Time now = kNow) {
  const auto date = date_from(text, now);
  return date ? to_rfc3339(*date) : "none";
}

TEST(Date, IsReadInEachOfItsFormats) {
  EXPECT_EQ(read("Sun, 06 Nov 1994 08:49:37 GMT"), "1994-11-06T08:49:37Z");
  EXPECT_EQ(read("Sunday, 06-Nov-94 08:49:37 GMT"), "1994-11-06T08:49:37Z");
  EXPECT_EQ(read("Sun Nov  6 08:49:37 1994"), "1994-11-06T08:49:37Z");
  EXPECT_EQ(read("Sun Nov 16 08:49:37 1994"), "1994-11-16T08:49:37Z");
}

TEST(Date, AYearOfTwoDigitsIsAtMostFiftyYearsAhead) {
  EXPECT_EQ(read("Sunday, 22-Nov-26 10:00:00 GMT"), "2026-11-22T10:00:00Z");
  EXPECT_EQ(read("Sunday, 22-Nov-76 10:00:00 GMT"), "2076-11-22T10:00:00Z");
  EXPECT_EQ(read("Monday, 22-Nov-76 10:00:01 GMT"), "1976-11-22T10:00:01Z");
  EXPECT_EQ(read("Friday, 01-Jan-77 00:00:00 GMT"), "1977-01-01T00:00:00Z");
  EXPECT_EQ(read("Sunday, 01-Jan-00 00:00:00 GMT"), "2000-01-01T00:00:00Z");
  const Time late = *from_rfc3339("2080-01-01T00:00:00Z");
  EXPECT_EQ(read("Thursday, 01-Jan-05 00:00:00 GMT", late), "2105-01-01T00:00:00Z");
  EXPECT_EQ(read("Sunday, 01-Jan-40 00:00:00 GMT", late), "2040-01-01T00:00:00Z");
}

TEST(Date, IsWrittenInTheFormatOfToday) {
  for (const char* text : {"Sun, 06 Nov 1994 08:49:37 GMT", "Wed, 31 Dec 1969 23:59:59 GMT"})
    EXPECT_EQ(date_text(date_from(text, kNow).value()), text);
  EXPECT_EQ(date_text(*from_rfc3339("1994-11-06T08:49:37.999999Z")),
            "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(Date, HasAYearOfFourDigits) {
  for (const char* early : {"1000-01-01T00:00:00Z", "0999-12-31T23:59:59Z", "0001-01-02T00:00:00Z"})
    EXPECT_EQ(date_text(*from_rfc3339(early)), "Wed, 01 Jan 1000 00:00:00 GMT") << early;
}

TEST(Date, ALeapSecondIsTheNextMinute) {
  EXPECT_EQ(read("Thu, 31 Dec 1998 23:59:60 GMT"), "1999-01-01T00:00:00Z");
  EXPECT_EQ(read("Thu, 31 Dec 1998 23:59:61 GMT"), "none");
}

TEST(Date, IsNothingElse) {
  for (const char* text :
       {"", "yesterday", "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 CET", "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "784111777",
        "sun, 06 nov 1994 08:49:37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT", "Sun Nov 06 08:49:37 1994"})
    EXPECT_EQ(read(text), "none") << text;
}

TEST(Date, IsADayOfTheCalendar) {
  EXPECT_EQ(read("Tue, 29 Feb 2000 10:00:00 GMT"), "2000-02-29T10:00:00Z");
  EXPECT_EQ(read("Thu, 29 Feb 1900 10:00:00 GMT"), "none");
  EXPECT_EQ(read("Sat, 31 Feb 1994 08:49:37 GMT"), "none");
}

}  // namespace
}  // namespace sandgate::http
