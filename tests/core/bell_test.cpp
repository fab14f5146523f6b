#include "gateway/core/bell.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "gateway/core/settle.hpp"
#include "tests/support/live_loop.hpp"

namespace sandgate {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong{10'000}, kShort{20};

struct BellTest : testing::Test {
  bool rung(milliseconds limit) { return loop.run(with_timeout(limit, bell.wait())).has_value(); }
  test::LiveLoop loop;
  Bell bell{loop.executor()};
};

TEST_F(BellTest, KeepsOneRingUntilItIsHeard) {
  EXPECT_FALSE(rung(kShort));
  bell.ring();
  bell.ring();
  EXPECT_TRUE(rung(kLong));
  EXPECT_FALSE(rung(kShort));
}

TEST_F(BellTest, IsHeardAfterSomebodyGaveUpWaiting) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(rung(kShort));
    bell.ring();
    EXPECT_TRUE(rung(kLong));
  }
}

TEST_F(BellTest, CancellingAWaitThrows) {
  asio::cancellation_signal stop;
  std::exception_ptr failure;
  asio::co_spawn(loop.executor(), bell.wait(),
                 asio::bind_cancellation_slot(
                     stop.slot(), [&](std::exception_ptr thrown) { failure = thrown; }));
  loop.run(sleep_for(kShort));
  stop.emit(asio::cancellation_type::terminal);
  loop.run(sleep_for(kShort));
  EXPECT_THROW(std::rethrow_exception(failure), boost::system::system_error);
}

// Every ring answers a wait, so none may be lost between two of them.
TEST_F(BellTest, NoRingOfAnotherThreadIsLost) {
  constexpr int kRounds = 2000;
  asio::io_context other;
  Bell answer(other.get_executor());
  auto serve = [&]() -> Task<void> {
    for (int i = 0; i < kRounds; ++i) {
      co_await bell.wait();
      answer.ring();
    }
  };
  auto ask = [&]() -> Task<void> {
    for (int i = 0; i < kRounds; ++i) {
      bell.ring();
      co_await answer.wait();
    }
  };
  asio::co_spawn(other, ask, asio::detached);
  std::thread thread([&] { other.run(); });
  auto served = with_timeout(kLong * 6, serve());
  EXPECT_TRUE(loop.run(std::move(served)).has_value());
  thread.join();
}

}  // namespace
}  // namespace sandgate
