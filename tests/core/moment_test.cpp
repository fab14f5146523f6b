#include "gateway/core/moment.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

TEST(Moment, IsATimeOrADate) {
  EXPECT_EQ(to_rfc3339(*moment_from("2026-11-20")), "2026-11-20T00:00:00Z");
  EXPECT_EQ(to_rfc3339(*moment_from("2026-11-20T08:00:00+02:00")), "2026-11-20T06:00:00Z");
  for (const char* text : {"", "2026-11", "2026-02-30", "20261120", "2026-11-2x"})
    EXPECT_FALSE(moment_from(text)) << text;
}

TEST(Moment, AMonthBeginsAndEnds) {
  const auto [begin, end] = *month_from("2026-12");
  EXPECT_EQ(to_rfc3339(begin), "2026-12-01T00:00:00Z");
  EXPECT_EQ(to_rfc3339(end), "2027-01-01T00:00:00Z");
  EXPECT_EQ(month_around(end), *month_from("2027-01"));
  EXPECT_TRUE(month_from("9999-11"));
  for (const char* text : {"", "2026-13", "2026-1", "2026-12-01", "9999-12"})
    EXPECT_FALSE(month_from(text)) << text;
}

TEST(Moment, AMonthIsThatOfTheLastOne) {
  const auto month = [](const char* end) { return to_rfc3339(month_of_end(*moment_from(end))); };
  EXPECT_EQ(month("2026-11-20"), "2026-11-01T00:00:00Z");
  EXPECT_EQ(month("2026-11-01"), "2026-10-01T00:00:00Z");
  EXPECT_EQ(month("2026-01-01"), "2025-12-01T00:00:00Z");
  EXPECT_EQ(month("2026-11-01T00:00:00.000001Z"), "2026-11-01T00:00:00Z");
}

}  // namespace
}  // namespace sandgate
