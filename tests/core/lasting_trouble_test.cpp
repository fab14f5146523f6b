#include "gateway/core/lasting_trouble.hpp"

#include <gtest/gtest.h>

namespace sandgate {
namespace {

using namespace std::chrono_literals;

constexpr LastingTrouble::Instant kBegin{};

TEST(LastingTrouble, IsToldOfWhenItBeginsNowAndThenAndWhenItIsOver) {
  LastingTrouble trouble;
  EXPECT_FALSE(trouble.over(kBegin));
  EXPECT_EQ(trouble.met(kBegin), 0u);
  EXPECT_FALSE(trouble.met(kBegin + 1ms));
  EXPECT_FALSE(trouble.met(kBegin + 29999ms));
  EXPECT_EQ(trouble.met(kBegin + 30s), 2u);
  EXPECT_FALSE(trouble.met(kBegin + 59s));
  EXPECT_EQ(trouble.over(kBegin + 61s), 61s);
  EXPECT_FALSE(trouble.over(kBegin + 61s));
}

TEST(LastingTrouble, ThatComesAndGoesFillsNoLog) {
  LastingTrouble trouble;
  int met = 0, over = 0;
  for (auto at = 0ms; at < 60s; at += 10ms) {
    met += trouble.met(kBegin + at).has_value();
    over += trouble.over(kBegin + at + 5ms).has_value();
  }
  EXPECT_EQ(met, 12);
  EXPECT_EQ(over, 12);
}

TEST(LastingTrouble, ThatComesBackIsToldOfThoughItsFirstTimeWasLeftOut) {
  LastingTrouble trouble;
  EXPECT_EQ(trouble.met(kBegin), 0u);
  EXPECT_EQ(trouble.over(kBegin + 1s), 1s);
  EXPECT_FALSE(trouble.met(kBegin + 2s));
  EXPECT_EQ(trouble.met(kBegin + 5s), 1u);
  EXPECT_EQ(trouble.over(kBegin + 9s), 4s);
}

}  // namespace
}  // namespace sandgate
