#include "local/node/launch_failure.hpp"

#include <gtest/gtest.h>

namespace sandgate::test {
namespace {

TEST(LaunchFailure, WhatThisMachineCannotDoNowAnotherMay) {
  for (const int number : {EAGAIN, ENOMEM, ENOSPC, EMFILE, ETIMEDOUT})
    EXPECT_EQ(to_error(StepError("launch", number)).code, ErrorCode::no_capacity) << number;
  EXPECT_EQ(to_error(StepError("mount point /proc", ELOOP)).code, ErrorCode::invalid);
  EXPECT_EQ(to_error(StepError("launch", ESRCH)).code, ErrorCode::unavailable);
  EXPECT_EQ(to_error(StepError("launch", EPERM)).code, ErrorCode::internal);
}

}  // namespace
}  // namespace sandgate::test
