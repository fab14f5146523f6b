#include "local/node/tidying.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "gateway/core/async.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;

// Long before anything is due that is not meant to be.
constexpr Tidying::Times kNeverQuiet{.quiet = 1h, .patience = 1h};

class TidyingTest : public testing::Test {
 protected:
  ~TidyingTest() override { pool_.join(); }

  std::function<void(Tidying::Work)> post() {
    return [this](Tidying::Work work) { asio::post(pool_, std::move(work)); };
  }
  Tidying::Work note() {
    return [this] { ++done_; };
  }
  bool all_done(int count) {
    return test::eventually([&] { return done_ == count; });
  }

  asio::thread_pool pool_{4};
  std::atomic<int> done_{0};
};

TEST_F(TidyingTest, StartsWhenItIsQuiet) {
  Tidying tidying(post());
  for (int i = 0; i < 5; ++i) tidying.add(note());
  EXPECT_TRUE(all_done(5));
  pool_.join();
}

TEST_F(TidyingTest, WaitsWhileThereAreRequests) {
  constexpr auto kQuiet = 300ms;
  Tidying tidying(post(), {.quiet = kQuiet, .patience = 1h});
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
  pool_.join();
}

TEST_F(TidyingTest, DoesNotWaitForEver) {
  Tidying tidying(post(), {.quiet = 1h, .patience = 50ms});
  tidying.disturb();
  const auto added = std::chrono::steady_clock::now();
  tidying.add(note());
  EXPECT_TRUE(all_done(1));
  EXPECT_GE(std::chrono::steady_clock::now() - added, 50ms);
  pool_.join();
}

TEST_F(TidyingTest, StartsTheOldestWhenTooManyWait) {
  Tidying tidying(post(), kNeverQuiet);
  tidying.disturb();
  constexpr int kMore = 3;
  std::atomic<int> first{0};
  for (int i = 0; i < kMore; ++i) tidying.add([&] { ++first; });
  for (size_t i = 0; i < Tidying::kMostWaiting; ++i) tidying.add(note());
  EXPECT_TRUE(test::eventually([&] { return first == kMore; }));
  EXPECT_EQ(done_, 0);
  pool_.join();
}

TEST_F(TidyingTest, GoesTwoAtATime) {
  std::latch go(1);
  std::atomic<int> begun{0};
  Tidying tidying(post(), {.quiet = 0ms, .patience = 1h});
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
  pool_.join();
}

TEST_F(TidyingTest, HurriesInTheEnd) {
  Tidying tidying(post(), kNeverQuiet);
  tidying.disturb();
  for (int i = 0; i < 5; ++i) tidying.add(note());
  tidying.hurry();
  tidying.add(note());
  pool_.join();
  EXPECT_EQ(done_, 6);
}

}  // namespace
}  // namespace sandgate
