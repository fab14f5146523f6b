#include "local/node/supervisor/deferred_cleanup.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "tests/support/eventually.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;

// Long before anything is due that is not meant to be.
constexpr DeferredCleanup::Times kNeverQuiet{.quiet = 1h, .max_delay = 1h};

class DeferredCleanupTest : public testing::Test {
 protected:
  DeferredCleanup::Work note() {
    return [this] { ++done_; };
  }
  bool all_done(int count) {
    return test::eventually([&] { return done_ == count; });
  }

  std::atomic<int> done_{0};
};

TEST_F(DeferredCleanupTest, StartsWhenItIsQuiet) {
  DeferredCleanup cleanup;
  for (int i = 0; i < 5; ++i) cleanup.add(note());
  EXPECT_TRUE(all_done(5));
}

TEST_F(DeferredCleanupTest, WaitsWhileThereAreRequests) {
  constexpr auto kQuiet = 300ms;
  DeferredCleanup cleanup({.quiet = kQuiet, .max_delay = 1h});
  cleanup.note_activity();
  const auto added = std::chrono::steady_clock::now();
  cleanup.add(note());
  auto disturbed = added;
  while (disturbed - added < 2 * kQuiet) {
    std::this_thread::sleep_for(20ms);
    disturbed = std::chrono::steady_clock::now();
    cleanup.note_activity();
  }
  EXPECT_TRUE(all_done(1));
  EXPECT_GE(std::chrono::steady_clock::now() - disturbed, kQuiet);
}

TEST_F(DeferredCleanupTest, DoesNotWaitForEver) {
  DeferredCleanup cleanup({.quiet = 1h, .max_delay = 50ms});
  cleanup.note_activity();
  const auto added = std::chrono::steady_clock::now();
  cleanup.add(note());
  EXPECT_TRUE(all_done(1));
  EXPECT_GE(std::chrono::steady_clock::now() - added, 50ms);
}

TEST_F(DeferredCleanupTest, StartsTheOldestWhenTooManyWait) {
  DeferredCleanup cleanup(kNeverQuiet);
  cleanup.note_activity();
  constexpr int kMore = 3;
  std::atomic<int> first{0};
  for (int i = 0; i < kMore; ++i) cleanup.add([&] { ++first; });
  for (size_t i = 0; i < DeferredCleanup::kMaxWaiting; ++i) cleanup.add(note());
  EXPECT_TRUE(test::eventually([&] { return first == kMore; }));
  EXPECT_EQ(done_, 0);
}

TEST_F(DeferredCleanupTest, GoesTwoAtATime) {
  std::latch go(1);
  std::atomic<int> begun{0};
  DeferredCleanup cleanup({.quiet = 0ms, .max_delay = 1h});
  for (int i = 0; i < 4; ++i)
    cleanup.add([&] {
      ++begun;
      go.wait();
    });
  EXPECT_TRUE(test::eventually([&] { return begun == 2; }));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(begun, 2);
  go.count_down();
  EXPECT_TRUE(test::eventually([&] { return begun == 4; }));
}

TEST_F(DeferredCleanupTest, FinishesWhatWaits) {
  DeferredCleanup cleanup(kNeverQuiet);
  cleanup.note_activity();
  for (int i = 0; i < 5; ++i) cleanup.add(note());
  cleanup.add([] { throw std::runtime_error("only logged"); });
  cleanup.finish();
  EXPECT_EQ(done_, 5);
}

}  // namespace
}  // namespace sandgate
