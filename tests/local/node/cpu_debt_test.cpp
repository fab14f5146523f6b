#include "local/node/watch/cpu_debt.hpp"

#include <gtest/gtest.h>

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

TEST(CpuDebt, IsWhatWasUsedBeyondTheLimitAndNotWaitedFor) {
  CpuDebt debt;
  const CpuDebt::Clock::time_point begin;
  EXPECT_EQ(debt.advance(7'000'000, begin, 500), 0) << "nothing is known of the time before";
  EXPECT_EQ(debt.advance(9'000'000, begin + 1s, 500), 1'500'000);
  EXPECT_EQ(debt.advance(9'000'000, begin + 3s, 500), 500'000) << "waited for two seconds";
  EXPECT_EQ(debt.advance(9'000'000, begin + 60s, 500), 0);
  EXPECT_EQ(debt.advance(11'000'000, begin + 61s, 500), 1'500'000) << "nothing was saved up";
  debt.forgive();
  EXPECT_EQ(debt.advance(11'250'000, begin + 61s, 500), 250'000);
}

TEST(CpuDebt, ACounterThatIsGoneIsNoDebt) {
  CpuDebt debt;
  const CpuDebt::Clock::time_point begin;
  debt.advance(5'000'000, begin, 1000);
  EXPECT_EQ(debt.advance(0, begin + 1s, 1000), 0);
  EXPECT_EQ(debt.advance(5'000'000, begin + 2s, 1000), 0);
}

TEST(CpuDebt, ManyProcessorsNeedLongerToNoticeALimit) {
  EXPECT_EQ(CpuDebt::worth_forgiving(2), 120'000);
  EXPECT_EQ(CpuDebt::worth_forgiving(64), 740'000);
}

TEST(CpuDebt, ANameIsNoState) {
  EXPECT_TRUE(is_runnable("12 (sandgate-agent) R 1 12 12 0"));
  EXPECT_FALSE(is_runnable("12 (sandgate-agent) S 1 12 12 0"));
  EXPECT_FALSE(is_runnable("12 (a) R b) S 1 12 12 0"));
  EXPECT_FALSE(is_runnable(""));
}

}  // namespace
}  // namespace sandgate::test
