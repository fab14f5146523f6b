#include "local/agent/backlog_sum.hpp"

#include <gtest/gtest.h>

namespace sandgate::agent {
namespace {

constexpr uint32_t kAsLongAsPossible = 0xFFFFFFFF;

// How many sockets in turn may have the longest queue; then there is no room for any.
size_t listeners_until_full(BacklogSum sum) {
  size_t listening = 0;
  for (; sum.has_room_for(kAsLongAsPossible, listening); ++listening) sum.add(kAsLongAsPossible);
  EXPECT_FALSE(sum.has_room_for(1, listening));
  return listening;
}

TEST(BacklogSumTest, LongQueuesTakeTheRoomOfMany) {
  EXPECT_EQ(listeners_until_full(BacklogSum(256)), 64U);
  EXPECT_EQ(listeners_until_full(BacklogSum(4096)), 4U);
}

TEST(BacklogSumTest, WhatIsClosedGivesItsRoomBack) {
  BacklogSum sum(4096);
  for (int round = 0; round < 100; ++round) {
    ASSERT_TRUE(sum.has_room_for(4096, 1)) << "a server that begins anew beside another";
    sum.add(4096);
  }
  EXPECT_TRUE(sum.has_room_for(4096, 3));
}

// Of five sockets four may be the long ones, whichever was closed.
TEST(BacklogSumTest, TheLongestAreTakenForTheOnesThatAreLeft) {
  BacklogSum sum(4096);
  for (const uint32_t backlog : {4096, 100, 4096, 4096, 4000}) sum.add(backlog);
  EXPECT_FALSE(sum.has_room_for(100, 4));
  EXPECT_TRUE(sum.has_room_for(4096, 3));
}

}  // namespace
}  // namespace sandgate::agent
