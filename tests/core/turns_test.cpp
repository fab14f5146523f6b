#include "gateway/core/turns.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "gateway/core/settle.hpp"
#include "tests/support/live_loop.hpp"

namespace sandgate {
namespace {

using std::chrono::milliseconds;

struct TurnsTest : testing::Test {
  bool begins(Turns::Turn& turn, milliseconds limit = milliseconds(10'000)) {
    return loop.run(with_timeout(limit, turn.wait())).has_value();
  }
  bool has_to_wait(Turns::Turn& turn) { return !begins(turn, milliseconds(20)); }
  test::LiveLoop loop;
  Turns turns{2};
};

TEST_F(TurnsTest, ComeInOrder) {
  std::optional<Turns::Turn> first, second;
  first.emplace(turns, loop.executor());
  second.emplace(turns, loop.executor());
  Turns::Turn third(turns, loop.executor()), fourth(turns, loop.executor());
  EXPECT_TRUE(begins(*first));
  EXPECT_TRUE(begins(*second));
  EXPECT_TRUE(has_to_wait(third));
  second.reset();
  EXPECT_TRUE(begins(third));
  EXPECT_TRUE(has_to_wait(fourth));
  first.reset();
  EXPECT_TRUE(begins(fourth));
}

// A client that leaves, before its turn or when it has just come.
TEST_F(TurnsTest, OfThoseWhoLeaveAreNotLost) {
  std::optional<Turns::Turn> first, second, third, fourth;
  for (auto* turn : {&first, &second, &third, &fourth}) turn->emplace(turns, loop.executor());
  Turns::Turn fifth(turns, loop.executor());
  third.reset();
  first.reset();
  EXPECT_TRUE(has_to_wait(fifth));
  fourth.reset();
  EXPECT_TRUE(begins(fifth));
}

}  // namespace
}  // namespace sandgate
