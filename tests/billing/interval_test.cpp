#include "billing/usage/interval.hpp"

#include <gtest/gtest.h>

#include "tests/billing/billing_fixture.hpp"

namespace sandgate {
namespace {

using test::at;

TEST(Interval, IsCutAtQuartersAndMoments) {
  const auto pieces = split_interval(
      {at("2026-11-20T12:10:00Z"), at("2026-11-20T12:32:00Z")},
      {at("2026-11-20T12:00:00Z"), at("2026-11-20T12:20:00.5Z"), at("2026-11-20T12:30:00Z")}, 100);
  const std::vector<Interval> expected{{at("2026-11-20T12:10:00Z"), at("2026-11-20T12:15:00Z")},
                                       {at("2026-11-20T12:15:00Z"), at("2026-11-20T12:20:00.5Z")},
                                       {at("2026-11-20T12:20:00.5Z"), at("2026-11-20T12:30:00Z")},
                                       {at("2026-11-20T12:30:00Z"), at("2026-11-20T12:32:00Z")}};
  EXPECT_EQ(pieces, expected);
}

TEST(Interval, IsNeverNegativeAndKeepsToItsLimit) {
  EXPECT_TRUE(
      split_interval({at("2026-11-20T12:10:00Z"), at("2026-11-20T12:00:00Z")}, {}, 100).empty());
  EXPECT_TRUE(
      split_interval({at("2026-11-20T12:10:00Z"), at("2026-11-20T12:10:00Z")}, {}, 100).empty());
  const auto pieces =
      split_interval({at("2026-11-20T12:00:00Z"), at("2026-11-21T12:00:00Z")}, {}, 3);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces.back().to, at("2026-11-20T12:45:00Z"));
}

}  // namespace
}  // namespace sandgate
