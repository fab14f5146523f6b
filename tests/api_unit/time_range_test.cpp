#include "gateway/api/time_range.hpp"

#include <gtest/gtest.h>

namespace sandgate::api {
namespace {

std::string told(const TimeRange& range) {
  const auto text = [](const std::optional<Time>& at) { return at ? to_rfc3339(*at) : "-"; };
  return text(range.from) + " " + text(range.to);
}

std::string told(const Error& error) {
  return error.fields.empty() ? "no field" : error.fields[0].path + " " + error.fields[0].message;
}

std::string asked_by_query(const std::string& query) {
  try {
    return told(time_range_parameters(http::Query(query)));
  } catch (const Error& error) {
    return told(error);
  }
}

std::string asked_by_body(const Json& body) {
  Problems problems;
  ObjectReader reader(body, problems);
  const TimeRange range = time_range_members(reader);
  try {
    problems.throw_if_any();
    return told(range);
  } catch (const Error& error) {
    return told(error);
  }
}

TEST(TimeRanges, IsReadAlikeFromQueriesAndBodies) {
  const std::string begin = "2026-11-01T00:00:00Z", end = "2026-12-01T00:00:00Z";
  const auto both = [](const std::string& from, const std::string& to) {
    const std::string answer = asked_by_body({{"from", from}, {"to", to}});
    EXPECT_EQ(asked_by_query("from=" + from + "&to=" + to), answer);
    return answer;
  };
  EXPECT_EQ(both(begin, end), begin + " " + end);
  EXPECT_EQ(both("2026-11-01", "2026-12-01"), begin + " " + end);
  EXPECT_EQ(both("2026-11-01T00:00:00-00:00", "2026-11-30T22:00:00-02:00"), begin + " " + end);
  EXPECT_EQ(both(end, begin), "/to must be after from");
  EXPECT_EQ(both(begin, begin), "/to must be after from");
  EXPECT_EQ(both("2026-11-01", "2026-10-31T23:00:00-01:00"), "/to must be after from");
  EXPECT_EQ(both("today", end), "/from must be an RFC 3339 time or a date");
  EXPECT_EQ(both(begin, "2026-11"), "/to must be an RFC 3339 time or a date");
}

TEST(TimeRanges, EitherEndMayBeLeftOut) {
  EXPECT_EQ(asked_by_query(""), "- -");
  EXPECT_EQ(asked_by_query("from=2026-11-01"), "2026-11-01T00:00:00Z -");
  EXPECT_EQ(asked_by_body({{"to", "2026-11-01"}}), "- 2026-11-01T00:00:00Z");
  EXPECT_EQ(asked_by_body({{"from", nullptr}}), "- -");
}

TEST(TimeRanges, AnUnescapedPlusIsOne) {
  EXPECT_EQ(asked_by_query("from=2026-11-01T02:00:00+02:00"), "2026-11-01T00:00:00Z -");
  EXPECT_EQ(asked_by_query("from=2026-11-01T02:00:00.5%2B02:00"), "2026-11-01T00:00:00.500000Z -");
  EXPECT_EQ(asked_by_query("from=2026-11-01+02:00"), "/from must be an RFC 3339 time or a date");
}

TEST(TimeRanges, IsMadeWholeByTheMonthItEndsIn) {
  const Time now = *moment_from("2026-11-20T08:00:00Z");
  const auto whole = [&](const std::string& query) {
    const auto [from, to] = resolve_time_range(time_range_parameters(http::Query(query)), now);
    return told(TimeRange{from, to});
  };
  EXPECT_EQ(whole(""), "2026-11-01T00:00:00Z 2026-11-20T08:00:00Z");
  EXPECT_EQ(whole("from=2026-09-05"), "2026-09-05T00:00:00Z 2026-11-20T08:00:00Z");
  EXPECT_EQ(whole("to=2026-11-10"), "2026-11-01T00:00:00Z 2026-11-10T00:00:00Z");
  EXPECT_EQ(whole("to=2026-11-01"), "2026-10-01T00:00:00Z 2026-11-01T00:00:00Z");
  // Nothing has happened there yet, which is no mistake of who asks.
  EXPECT_EQ(whole("from=2026-12-01"), "2026-12-01T00:00:00Z 2026-12-01T00:00:00Z");
}

}  // namespace
}  // namespace sandgate::api
