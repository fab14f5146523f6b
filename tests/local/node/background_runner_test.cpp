#include "local/node/server/background_runner.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "local/namespaces/step_error.hpp"

namespace sandgate::test {
namespace {

TEST(BackgroundRunner, WhatFailsEndsNothingElse) {
  asio::thread_pool pool(1);
  const auto post = background_runner(pool);
  std::atomic<int> done{0};
  post([] { throw Error(ErrorCode::timeout, "the sandbox does not end"); });
  post([&] { ++done; });
  post([] { throw StepError("write cgroup.kill", ENODEV); });
  post([&] { ++done; });
  pool.join();
  EXPECT_EQ(done, 2);
}

}  // namespace
}  // namespace sandgate::test
