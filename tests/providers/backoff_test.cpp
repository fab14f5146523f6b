#include "providers/backoff.hpp"

#include <gtest/gtest.h>

#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

// How long it takes until somebody has looked so often; the best of a few, since others use the
// machine too.
steady_clock::duration time_of(int looks) {
  auto best = steady_clock::duration::max();
  for (int turn = 0; turn < 5; ++turn) {
    const auto begin = steady_clock::now();
    Backoff pause;
    for (int i = 0; i < looks; ++i) run(pause.wait());
    best = std::min(best, steady_clock::now() - begin);
  }
  return best;
}

TEST(Backoff, IsShortWhereMostIsReadySoon) {
  EXPECT_GE(time_of(1), 30ms);
  EXPECT_LE(time_of(1), 90ms);
  EXPECT_LE(time_of(2), 200ms);
  EXPECT_GE(time_of(5), 500ms) << "who takes long is not asked all the time";
}

}  // namespace
}  // namespace sandgate::test
