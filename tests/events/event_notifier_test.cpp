#include "gateway/events/event_notifier.hpp"

#include <gtest/gtest.h>

#include "tests/support/live_loop.hpp"

namespace sandgate {
namespace {

using std::chrono::milliseconds;
using Ticks = std::chrono::steady_clock;

constexpr milliseconds kLong{5000}, kShort{30};

struct EventNotifierTest : testing::Test {
  // Whether a wait ended because of a notification.
  bool notified(EventNotifier::Listener& listener, milliseconds limit) {
    const auto begin = Ticks::now();
    loop.run(listener.wait(limit));
    return Ticks::now() - begin < limit;
  }
  test::LiveLoop loop;
  EventNotifier notifier;
  const TenantId tenant{"tn1"};
  EventNotifier::Listener everything{notifier, {}, loop.executor()};
  EventNotifier::Listener mine{notifier, {tenant, ""}, loop.executor()};
  EventNotifier::Listener box{notifier, {tenant, "sandboxes/sb1"}, loop.executor()};
};

TEST_F(EventNotifierTest, WakesThoseConcerned) {
  notifier.notify("tn1 sandboxes/sb1");
  EXPECT_TRUE(notified(everything, kLong));
  EXPECT_TRUE(notified(mine, kLong));
  EXPECT_TRUE(notified(box, kLong));
  notifier.notify("tn1 sandboxes/sb2");
  EXPECT_TRUE(notified(mine, kLong));
  EXPECT_FALSE(notified(box, kShort));
  notifier.notify("tn2 sandboxes/sb1");
  EXPECT_FALSE(notified(mine, kShort));
  EXPECT_FALSE(notified(box, kShort));
}

TEST_F(EventNotifierTest, WhatConcernsEverybodyWakesEverybody) {
  for (const char* payload : {"", " deployments/main"}) {
    notifier.notify(payload);
    EXPECT_TRUE(notified(everything, kLong));
    EXPECT_TRUE(notified(mine, kLong));
    EXPECT_TRUE(notified(box, kLong));
  }
}

TEST_F(EventNotifierTest, ManyNotificationsAreOneWake) {
  for (int i = 0; i < 1000; ++i) notifier.notify("tn1 sandboxes/sb1");
  EXPECT_TRUE(notified(box, kLong));
  EXPECT_FALSE(notified(box, kShort));
}

TEST_F(EventNotifierTest, ANotificationAfterAWaitThatEndedByTimeEndsTheNext) {
  EXPECT_FALSE(notified(box, kShort));
  notifier.notify("tn1 sandboxes/sb1");
  EXPECT_TRUE(notified(box, kLong));
}

TEST_F(EventNotifierTest, ClosingWakesThoseWhoWaitAndThoseWhoComeLater) {
  EXPECT_EQ(notifier.listeners(), 3u);
  notifier.close();
  EXPECT_TRUE(notified(box, kLong));
  EventNotifier::Listener late(notifier, {}, loop.executor());
  EXPECT_TRUE(notified(late, kLong));
  EXPECT_TRUE(notifier.closed());
}

}  // namespace
}  // namespace sandgate
