#include "gateway/core/tenant_log_limiter.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

using namespace std::chrono_literals;

TEST(LogRateLimiter, WritesSoManyInASecondAndTellsWhatItLeftOut) {
  LogRateLimiter pace(2);
  const LogRateLimiter::Instant now{};
  EXPECT_EQ(pace.next(now), 0u);
  EXPECT_EQ(pace.next(now + 900ms), 0u);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(pace.next(now + 999ms));
  EXPECT_EQ(pace.next(now + 1s), 3u);
  EXPECT_EQ(pace.next(now + 1s), 0u);
  EXPECT_FALSE(pace.next(now + 1999ms));
  EXPECT_EQ(pace.next(now + 1h), 1u);
}

TEST(LogRateLimiter, TakesALongerPeriod) {
  LogRateLimiter pace(1, 1min);
  const LogRateLimiter::Instant now{};
  EXPECT_EQ(pace.next(now), 0u);
  EXPECT_FALSE(pace.next(now + 59s));
  EXPECT_EQ(pace.next(now + 60s), 1u);
}

TEST(TenantLogLimiter, NobodyLeavesOutWhatOthersCause) {
  TenantLogLimiter pace(2);
  const LogRateLimiter::Instant now{};
  for (int i = 0; i < 5; ++i) pace.next("a", now);
  EXPECT_FALSE(pace.next("a", now));
  EXPECT_EQ(pace.next("b", now), 0u);
  EXPECT_EQ(pace.next("", now), 0u);
  EXPECT_EQ(pace.next("a", now + 1s), 4u);
}

}  // namespace
}  // namespace sandgate
