#include "local/node/storage/disk_space.hpp"

#include <gtest/gtest.h>

#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

constexpr int64_t kAll = int64_t{1} << 40;  // MiB: more than any disk

TEST(DiskSpace, LooksAtWhatIsThere) {
  const TempDirectory directory;
  const auto here = DiskSpace(directory.path(), 1).status();
  ASSERT_TRUE(here);
  EXPECT_GT(here->free_bytes, 0);
  EXPECT_EQ(here->floor_bytes, 1 << 20);
  const auto later = DiskSpace(directory.path() + "/not/yet", 0).status();
  ASSERT_TRUE(later);
  EXPECT_GT(later->free_bytes, 0);
  EXPECT_GT(later->floor_bytes, 0);
  EXPECT_LE(later->floor_bytes, int64_t{1} << 30);
}

TEST(DiskSpace, IsScarceBeforeItIsGone) {
  const TempDirectory directory;
  EXPECT_TRUE(DiskSpace(directory.path(), kAll).is_below_floor());
  EXPECT_TRUE(DiskSpace(directory.path(), kAll).is_scarce());
  EXPECT_FALSE(DiskSpace(directory.path(), 1).is_below_floor());
  const auto here = DiskSpace(directory.path(), 1).status();
  const DiskSpace nearly(directory.path(), (here->free_bytes >> 20) - 64);
  EXPECT_FALSE(nearly.is_below_floor());
  EXPECT_TRUE(nearly.is_scarce()) << "memory may hold more than 64 MiB that are to be written";
}

TEST(DiskSpace, WhatCannotBeSeenHindersNobody) {
  const DiskSpace unknown("", 0);
  EXPECT_FALSE(unknown.status());
  EXPECT_FALSE(unknown.is_below_floor());
  EXPECT_FALSE(unknown.is_scarce());
}

}  // namespace
}  // namespace sandgate::test
