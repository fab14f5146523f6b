#include "gateway/app/background.hpp"
#include "tests/support/eventually.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace sandgate {
namespace {

using std::chrono::milliseconds;

TEST(Background, RemovesUntilNothingIsLeft) {
  asio::thread_pool pool(1);
  std::atomic<int> left{3}, steps{0};
  repeat_until_none(pool.get_executor(), "test", std::chrono::hours(1), [&]() -> Task<size_t> {
    ++steps;
    co_return static_cast<size_t>(left > 0 ? left-- : 0);
  });
  EXPECT_TRUE(test::eventually([&] { return steps >= 4; }));
  EXPECT_EQ(left, 0);
  pool.stop();
  pool.join();
}

TEST(Background, GoesOnWhateverAStepThrows) {
  asio::thread_pool pool(1);
  std::atomic<int> steps{0};
  repeat(pool.get_executor(), "test", milliseconds(1), [&]() -> Task<void> {
    if (++steps % 2 == 0) throw boost::system::system_error(asio::error::operation_aborted);
    throw std::runtime_error("not now");
    co_return;
  });
  EXPECT_TRUE(test::eventually([&] { return steps >= 4; }));
  pool.stop();
  pool.join();
}

}  // namespace
}  // namespace sandgate
