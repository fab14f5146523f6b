#include <gtest/gtest.h>

#include <thread>

#include "gateway/core/async.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

using test::run;

TEST(OnPool, RunsThereAndComesBack) {
  asio::thread_pool pool(2);
  const auto here = std::this_thread::get_id();
  auto work = [&]() -> Task<void> {
    auto asking = on_pool(pool, [] { return std::this_thread::get_id(); });
    const auto there = co_await std::move(asking);
    EXPECT_NE(there, here);
    EXPECT_EQ(std::this_thread::get_id(), here);
  };
  run(work());
}

TEST(OnPool, CarriesWhatIsThrown) {
  asio::thread_pool pool(1);
  auto work = [&]() -> Task<void> {
    auto failing = on_pool(pool, []() -> int { throw Error(ErrorCode::conflict, "taken"); });
    const auto outcome = co_await attempt(std::move(failing));
    const Error* error = std::get_if<Error>(&outcome);
    EXPECT_TRUE(error && error->code == ErrorCode::conflict);
  };
  run(work());
}

TEST(OnPool, WorkThatReturnsNothingIsWaitedFor) {
  asio::thread_pool pool(1);
  bool done = false;
  auto work = [&]() -> Task<void> {
    auto slow = [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
    };
    auto running = on_pool(pool, slow);
    co_await std::move(running);
    EXPECT_TRUE(done);
  };
  run(work());
}

}  // namespace
}  // namespace sandgate
