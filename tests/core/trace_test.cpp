#include "gateway/core/trace.hpp"

#include <gtest/gtest.h>

#include "gateway/core/settle.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

Task<std::string> told() {
  co_await sleep_for(std::chrono::milliseconds(1));
  const asio::any_io_executor here = co_await asio::this_coro::executor;
  const TracePtr trace = trace_of(here);
  co_return trace ? trace->parent : "none";
}

Task<std::string> told_on_a_strand() {
  const asio::any_io_executor here = co_await asio::this_coro::executor;
  const auto strand = asio::make_strand(here);
  auto task = told();
  co_return co_await asio::co_spawn(strand, std::move(task), asio::use_awaitable);
}

Task<std::string> told_in_a_race() {
  auto racing = with_timeout(std::chrono::seconds(9), told());
  const auto value = co_await std::move(racing);
  co_return value.value_or("late");
}

TEST(Trace, GoesWithWhatRunsUnderIt) {
  const auto trace = std::make_shared<const Trace>(Trace{"00-a", ""});
  EXPECT_EQ(test::run(told()), "none");
  EXPECT_EQ(test::run(with_trace(trace, told())), "00-a");
  EXPECT_EQ(test::run(with_trace(trace, told_on_a_strand())), "00-a");
  EXPECT_EQ(test::run(with_trace(trace, told_in_a_race())), "00-a");
  EXPECT_EQ(test::run(with_trace(nullptr, told())), "none");
}

TEST(Trace, CancellingReachesWhatRunsUnderIt) {
  const auto trace = std::make_shared<const Trace>(Trace{"00-a", ""});
  auto endless = with_trace(trace, sleep_for(std::chrono::hours(1)));
  auto racing = with_timeout(std::chrono::milliseconds(20), std::move(endless));
  EXPECT_FALSE(test::run(std::move(racing)));
}

}  // namespace
}  // namespace sandgate
