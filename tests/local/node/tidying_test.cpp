#include "local/node/tidying.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "tests/support/eventually.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;

// Long before anything is due that is not meant to be.
constexpr Tidying::Times kNeverQuiet{.quiet = 1h, .patience = 1h};

class TidyingTest : public testing::Test {
 protected:
  Tidying::Work note() {
    return [this] { ++done_; };
  }
  bool all_done(int count) {
    return test::eventually([&] { return done_ == count; });
  }

  std::atomic<int> done_{0};
};

TEST_F(TidyingTest, StartsWhenItIsQuiet) {
  Tidying tidying;
  for (int i = 0; i < 5; ++i) tidying.add(note());
  EXPECT_TRUE(all_done(5));
}

TEST_F(TidyingTest, WaitsWhileThereAreRequests) {
  constexpr auto kQuiet = 300ms;
  Tidying tidying({.quiet = kQuiet, .patience = 1h});
  tidying.disturb();
  const auto added = std::chrono::steady_clock::now();
  tidying.add(note());
  auto disturbed = added;
  while (disturbed - added < 2 * kQuiet) {
    std::this_thread::sleep_for(20ms);
    disturbed = std::chrono::steady_clock::now();
    tidying.disturb();
  }
  EXPECT_TRUE(all_done(1));
  EXPECT_GE(std::chrono::steady_clock::now() - disturbed, kQuiet);
}

TEST_F(TidyingTest, DoesNotWaitForEver) {
  Tidying tidying({.quiet = 1h, .patience = 50ms});
  tidying.disturb();
  const auto added = std::chrono::steady_clock::now();
  tidying.add(note());
  EXPECT_TRUE(all_done(1));
  EXPECT_GE(std::chrono::steady_clock::now() - added, 50ms);
}

TEST_F(TidyingTest, StartsTheOldestWhenTooManyWait) {
  Tidying tidying(kNeverQuiet);
  tidying.disturb();
  constexpr int kMore = 3;
  std::atomic<int> first{0};
  for (int i = 0; i < kMore; ++i) tidying.add([&] { ++first; });
  for (size_t i = 0; i < Tidying::kMostWaiting; ++i) tidying.add(note());
  EXPECT_TRUE(test::eventually([&] { return first == kMore; }));
  EXPECT_EQ(done_, 0);
}

TEST_F(TidyingTest, GoesTwoAtATime) {
  std::latch go(1);
  std::atomic<int> begun{0};
  Tidying tidying({.quiet = 0ms, .patience = 1h});
  for (int i = 0; i < 4; ++i)
    tidying.add([&] {
      ++begun;
      go.wait();
    });
  EXPECT_TRUE(test::eventually([&] { return begun == 2; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(begun, 2);
  go.count_down();
  EXPECT_TRUE(test::eventually([&] { return begun == 4; }));
}

TEST_F(TidyingTest, FinishesWhatWaits) {
  Tidying tidying(kNeverQuiet);
  tidying.disturb();
  for (int i = 0; i < 5; ++i) tidying.add(note());
  tidying.add([] { throw std::runtime_error("only logged"); });
  tidying.finish();
  EXPECT_EQ(done_, 5);
}

}  // namespace
}  // namespace sandgate
