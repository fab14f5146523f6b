#include "local/agent/backlog_sum.hpp"

#include <gtest/gtest.h>

namespace sandgate::agent {
namespace {

constexpr uint32_t kAsLongAsPossible = 0xFFFFFFFF;

TEST(BacklogSumTest, TheShortQueuesOfOneKernelNeverFillIt) {
  BacklogSum sum(256);
  for (size_t listening = 0; listening < 64; ++listening) {
    ASSERT_TRUE(sum.has_room_for(kAsLongAsPossible, listening)) << listening;
    sum.add(kAsLongAsPossible);
  }
  EXPECT_FALSE(sum.has_room_for(1, 64));
}

TEST(BacklogSumTest, LongQueuesTakeTheRoomOfMany) {
  BacklogSum sum(4096);
  for (size_t listening = 0; listening < 4; ++listening) {
    ASSERT_TRUE(sum.has_room_for(kAsLongAsPossible, listening)) << listening;
    sum.add(kAsLongAsPossible);
  }
  EXPECT_FALSE(sum.has_room_for(1, 4));
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
