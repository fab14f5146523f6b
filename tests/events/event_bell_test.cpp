#include "gateway/events/event_bell.hpp"

#include <gtest/gtest.h>

#include "tests/support/live_loop.hpp"

namespace sandgate {
namespace {

using std::chrono::milliseconds;
using Ticks = std::chrono::steady_clock;

constexpr milliseconds kLong{5000}, kShort{30};

struct EventBellTest : testing::Test {
  // Whether a wait ended because of a ring.
  bool rung(EventBell::Listener& listener, milliseconds limit) {
    const auto begin = Ticks::now();
    loop.run(listener.wait(limit));
    return Ticks::now() - begin < limit;
  }
  test::LiveLoop loop;
  EventBell bell;
  const TenantId tenant{"tn1"};
  EventBell::Listener everything{bell, {}, loop.executor()};
  EventBell::Listener mine{bell, {tenant, ""}, loop.executor()};
  EventBell::Listener box{bell, {tenant, "sandboxes/sb1"}, loop.executor()};
};

TEST_F(EventBellTest, WakesThoseConcerned) {
  bell.ring("tn1 sandboxes/sb1");
  EXPECT_TRUE(rung(everything, kLong));
  EXPECT_TRUE(rung(mine, kLong));
  EXPECT_TRUE(rung(box, kLong));
  bell.ring("tn1 sandboxes/sb2");
  EXPECT_TRUE(rung(mine, kLong));
  EXPECT_FALSE(rung(box, kShort));
  bell.ring("tn2 sandboxes/sb1");
  EXPECT_FALSE(rung(mine, kShort));
  EXPECT_FALSE(rung(box, kShort));
}

TEST_F(EventBellTest, WhatConcernsEverybodyWakesEverybody) {
  for (const char* payload : {"", " deployments/main"}) {
    bell.ring(payload);
    EXPECT_TRUE(rung(everything, kLong));
    EXPECT_TRUE(rung(mine, kLong));
    EXPECT_TRUE(rung(box, kLong));
  }
}

TEST_F(EventBellTest, ManyRingsAreOneWake) {
  for (int i = 0; i < 1000; ++i) bell.ring("tn1 sandboxes/sb1");
  EXPECT_TRUE(rung(box, kLong));
  EXPECT_FALSE(rung(box, kShort));
}

TEST_F(EventBellTest, ARingAfterAWaitThatEndedByTimeEndsTheNext) {
  EXPECT_FALSE(rung(box, kShort));
  bell.ring("tn1 sandboxes/sb1");
  EXPECT_TRUE(rung(box, kLong));
}

TEST_F(EventBellTest, ClosingWakesThoseWhoWaitAndThoseWhoComeLater) {
  EXPECT_EQ(bell.listeners(), 3u);
  bell.close();
  EXPECT_TRUE(rung(box, kLong));
  EventBell::Listener late(bell, {}, loop.executor());
  EXPECT_TRUE(rung(late, kLong));
  EXPECT_TRUE(bell.closed());
}

}  // namespace
}  // namespace sandgate
