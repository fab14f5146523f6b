#include "gateway/core/auto_reset_event.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "gateway/core/settle.hpp"
#include "tests/support/live_loop.hpp"

namespace sandgate {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLong{10'000}, kShort{20};

struct AutoResetEventTest : testing::Test {
  bool is_set(milliseconds limit) {
    return loop.run(with_timeout(limit, event.wait())).has_value();
  }
  test::LiveLoop loop;
  AutoResetEvent event{loop.executor()};
};

TEST_F(AutoResetEventTest, KeepsOneSetUntilAWait) {
  EXPECT_FALSE(is_set(kShort));
  event.set();
  event.set();
  EXPECT_TRUE(is_set(kLong));
  EXPECT_FALSE(is_set(kShort));
}

TEST_F(AutoResetEventTest, OutlivesACancelledWait) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(is_set(kShort));
    event.set();
    EXPECT_TRUE(is_set(kLong));
  }
}

TEST_F(AutoResetEventTest, CancellingAWaitThrows) {
  asio::cancellation_signal stop;
  std::exception_ptr failure;
  asio::co_spawn(loop.executor(), event.wait(),
                 asio::bind_cancellation_slot(
                     stop.slot(), [&](std::exception_ptr thrown) { failure = thrown; }));
  loop.run(sleep_for(kShort));
  stop.emit(asio::cancellation_type::terminal);
  loop.run(sleep_for(kShort));
  EXPECT_THROW(std::rethrow_exception(failure), boost::system::system_error);
}

// Every set() answers a wait, so none may be lost between two of them.
TEST_F(AutoResetEventTest, NoSetOfAnotherThreadIsLost) {
  constexpr int kRounds = 2000;
  asio::io_context other;
  AutoResetEvent answer(other.get_executor());
  auto serve = [&]() -> Task<void> {
    for (int i = 0; i < kRounds; ++i) {
      co_await event.wait();
      answer.set();
    }
  };
  auto ask = [&]() -> Task<void> {
    for (int i = 0; i < kRounds; ++i) {
      event.set();
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
