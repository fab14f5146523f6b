#include "local/node/supervisor/warm_pool.hpp"

#include <gtest/gtest.h>

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

const WarmClass kSmall{"debian-12", "sha256:1", {}, false};
const WarmClass kLarge{"debian-12", "sha256:1", {.milli_vcpu = 4000}, false};
const WarmPool::Instant kStart = WarmPool::Instant() + 24h;

// Makes what the pool wants until it wants no more; returns how many.
int fill(WarmPool& pool, WarmPool::Instant now) {
  int made = 0;
  while (const auto wanted = pool.next_to_make(now)) {
    pool.add(*wanted, wanted->image + "/" + std::to_string(wanted->resources.milli_vcpu) + "/" +
                          std::to_string(made++));
  }
  return made;
}

TEST(WarmPoolTest, WantsNothingBeforeAnybodyAsked) {
  WarmPool pool(16);
  EXPECT_FALSE(pool.next_to_make(kStart));
  EXPECT_FALSE(pool.take(kSmall, kStart));
}

TEST(WarmPoolTest, WantsAsManyAsWereAskedFor) {
  WarmPool pool(16, 0, 2);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(pool.take(kSmall, kStart));
  EXPECT_EQ(fill(pool, kStart), 1) << "one at once, since there is none";
  EXPECT_EQ(fill(pool, kStart + WarmPool::kRefillDelay / 2), 2) << "more than half after a breath";
  EXPECT_TRUE(pool.lacks(kStart));
  EXPECT_EQ(fill(pool, kStart + WarmPool::kQuietPeriod), 2) << "the rest when it is quiet";
  EXPECT_FALSE(pool.lacks(kStart));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(pool.take(kSmall, kStart + 1s)) << i;
  EXPECT_FALSE(pool.take(kSmall, kStart + 1s));
}

TEST(WarmPoolTest, ManyProcessorsWaitForNobody) {
  WarmPool pool(16, 0, 24);
  for (int i = 0; i < 6; ++i) pool.take(kSmall, kStart);
  EXPECT_EQ(fill(pool, kStart + 1ms), 3);
}

TEST(WarmPoolTest, SeveralAtOnceOnlyWhenNobodyAskedForAWhile) {
  WarmPool pool(16, 0, 2);
  for (int i = 0; i < 3; ++i) pool.take(kSmall, kStart), pool.take(kLarge, kStart);
  ASSERT_TRUE(pool.next_to_make(kStart));
  EXPECT_FALSE(pool.next_to_make(kStart)) << "of the other class, which has none";
  EXPECT_TRUE(pool.next_to_make(kStart + WarmPool::kRefillDelay / 2));
  EXPECT_TRUE(pool.next_to_make(kStart + WarmPool::kRefillDelay / 2));
  pool.take(kSmall, kStart + 1s);
  EXPECT_FALSE(pool.next_to_make(kStart + 1s));
}

TEST(WarmPoolTest, NeverMoreThanTheMost) {
  WarmPool pool(4);
  for (int i = 0; i < 100; ++i) pool.take(kSmall, kStart), pool.take(kLarge, kStart);
  EXPECT_EQ(fill(pool, kStart + 1s), 4);
  EXPECT_TRUE(pool.take(kSmall, kStart + 1s)) << "both classes have some";
  EXPECT_TRUE(pool.take(kLarge, kStart + 1s));
}

TEST(WarmPoolTest, GivesOnlyWhatWasAskedFor) {
  WarmPool pool(16, 1);
  pool.take(kSmall, kStart);
  fill(pool, kStart + 1s);
  for (WarmClass other :
       {kLarge, WarmClass{"debian-12", "sha256:2", {}, false},
        WarmClass{"other", "sha256:1", {}, false}, WarmClass{"debian-12", "sha256:1", {}, true},
        WarmClass{"debian-12", "sha256:1", {}, false, {.uid = 1001}},
        WarmClass{"debian-12", "sha256:1", {}, false, {.env = {{"A", "1"}}}}}) {
    EXPECT_FALSE(pool.take(other, kStart + 1s));
  }
  EXPECT_TRUE(pool.take(kSmall, kStart + 1s));
}

TEST(WarmPoolTest, AFewAreNoRush) {
  WarmPool pool(16);
  pool.take(kSmall, kStart);
  EXPECT_TRUE(pool.surplus(kStart).empty());
  pool.take(kSmall, kStart + 1s);
  EXPECT_TRUE(pool.surplus(kStart + 1s).empty()) << "and who asked is remembered";
  EXPECT_FALSE(pool.next_to_make(kStart + 2s));
  pool.take(kSmall, kStart + 2s);
  EXPECT_EQ(fill(pool, kStart + 3s), 3);
}

TEST(WarmPoolTest, KeepsNothingWhenTheRushIsOver) {
  WarmPool pool(16);
  for (int i = 0; i < 8; ++i) pool.take(kSmall, kStart);
  EXPECT_EQ(fill(pool, kStart + 1s), 8);
  EXPECT_TRUE(pool.surplus(kStart + 2s).empty());
  EXPECT_EQ(pool.surplus(kStart + 6s).size(), 8u);
}

TEST(WarmPoolTest, KeepsItsFloorForAWhile) {
  WarmPool pool(16, 1);
  for (int i = 0; i < 8; ++i) pool.take(kSmall, kStart);
  EXPECT_EQ(fill(pool, kStart + 1s), 8);
  EXPECT_EQ(pool.surplus(kStart + 6s).size(), 7u);
  EXPECT_EQ(pool.surplus(kStart + 11min).size(), 1u);
  EXPECT_EQ(pool.waiting(), 0u);
  EXPECT_FALSE(pool.next_to_make(kStart + 11min));
}

TEST(WarmPoolTest, AClassThatFailsRests) {
  WarmPool pool(16, 1);
  pool.take(kSmall, kStart);
  ASSERT_TRUE(pool.next_to_make(kStart));
  pool.back_off(kSmall, kStart);
  EXPECT_FALSE(pool.next_to_make(kStart + 999ms));
  EXPECT_FALSE(pool.lacks(kStart + 999ms));
  ASSERT_TRUE(pool.next_to_make(kStart + 1s));
  pool.back_off(kSmall, kStart + 1s);
  EXPECT_FALSE(pool.next_to_make(kStart + 2s)) << "longer each time";
  EXPECT_TRUE(pool.next_to_make(kStart + 3s));
}

TEST(WarmPoolTest, ForgetsTheDeadAndTheImage) {
  WarmPool pool(16);
  for (int i = 0; i < 3; ++i) pool.take(kSmall, kStart);
  fill(pool, kStart + 1s);
  const auto warm = pool.take(kSmall, kStart + 1s);
  ASSERT_TRUE(warm);
  pool.add(kSmall, *warm);
  pool.forget(*warm);
  EXPECT_EQ(pool.waiting(), 2u);
  EXPECT_EQ(pool.drop_image("other").size(), 0u);
  EXPECT_EQ(pool.drop_image("debian-12").size(), 2u);
  EXPECT_FALSE(pool.take(kSmall, kStart + 1s));
}

TEST(WarmPoolTest, AnEmptyPoolStaysEmpty) {
  WarmPool pool(0);
  EXPECT_FALSE(pool.take(kSmall, kStart));
  EXPECT_FALSE(pool.next_to_make(kStart));
}

}  // namespace
}  // namespace sandgate::test
