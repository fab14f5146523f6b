#include "local/node/supervisor/launch_failure.hpp"

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

TEST(LaunchFailure, ThreadsThatCannotBeStartedNowMayBeElsewhere) {
  const auto refused = [](int number) {
    return failure_code(std::system_error(number, std::generic_category()));
  };
  EXPECT_EQ(refused(EAGAIN), ErrorCode::no_capacity);
  EXPECT_EQ(refused(EPERM), ErrorCode::internal);
}

TEST(LaunchFailure, WhatEndingSandboxesGivesBackIsLackedNowOnly) {
  for (const int number : {EAGAIN, ENOMEM, ENOBUFS, ENOSPC, EMFILE, ENFILE, ETOOMANYREFS, EDQUOT})
    EXPECT_TRUE(is_lack_of_resources(StepError("launch", number))) << number;
  for (const int number : {EPERM, ENOENT, ENODEV, EINVAL, ETIMEDOUT})
    EXPECT_FALSE(is_lack_of_resources(StepError("launch", number))) << number;
}

}  // namespace
}  // namespace sandgate::test
