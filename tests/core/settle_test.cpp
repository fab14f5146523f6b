#include "gateway/core/settle.hpp"

#include <gtest/gtest.h>

#include "gateway/core/both.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using test::code_of;
using test::run;

// Far below the limits given, far above what a loaded machine takes.
constexpr std::chrono::seconds kAtOnce{10};

class Stopwatch {
 public:
  ~Stopwatch() { EXPECT_LT(std::chrono::steady_clock::now() - start_, kAtOnce); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Task<std::string> say(std::string word) { co_return word; }
Task<void> nothing() { co_return; }

// Suspends first, so that the race has begun when it fails.
Task<std::string> fail_with(ErrorCode code) {
  co_await sleep_for(milliseconds(1));
  throw Error(code, "no");
}

Task<void> fail_foreign() {
  co_await sleep_for(milliseconds(1));
  throw std::out_of_range("foreign");
}

// Sets `gone` when its frame goes; ends by itself after an hour.
Task<void> wait_long(bool& gone) {
  struct Mark {
    bool& gone;
    ~Mark() { gone = true; }
  } mark{gone};
  co_await sleep_for(hours(1));
}

TEST(WithTimeout, AValueArrives) {
  const Stopwatch watch;
  EXPECT_EQ(run(with_timeout(hours(1), say("yes"))), "yes");
  EXPECT_TRUE(run(with_timeout(hours(1), nothing())).has_value());
}

TEST(WithTimeout, AFailureSettlesItAtOnce) {
  const Stopwatch watch;
  EXPECT_EQ(code_of(with_timeout(hours(1), fail_with(ErrorCode::conflict))), ErrorCode::conflict);
  EXPECT_THROW(run(with_timeout(hours(1), fail_foreign())), std::out_of_range);
}

TEST(WithTimeout, TheTimerCancelsTheTask) {
  const Stopwatch watch;
  bool gone = false;
  EXPECT_FALSE(run(with_timeout(milliseconds(20), wait_long(gone))).has_value());
  EXPECT_TRUE(gone);
}

TEST(WithTimeout, ACancelledRaceCancelsBothSides) {
  const Stopwatch watch;
  bool gone = false;
  auto inner = with_timeout(hours(1), wait_long(gone));
  EXPECT_FALSE(run(with_timeout(milliseconds(20), std::move(inner))).has_value());
  EXPECT_TRUE(gone);
}

TEST(AttemptWithin, EndsAreValues) {
  const Stopwatch watch;
  const auto value = run(attempt_within(hours(1), say("yes")));
  EXPECT_EQ(std::get<std::string>(value), "yes");
  const auto failure = run(attempt_within(hours(1), fail_with(ErrorCode::no_capacity)));
  EXPECT_EQ(std::get<Error>(failure).code, ErrorCode::no_capacity);
  bool gone = false;
  const auto late = run(attempt_within(milliseconds(20), wait_long(gone)));
  EXPECT_EQ(std::get<Error>(late).code, ErrorCode::timeout);
  EXPECT_TRUE(gone);
  const auto unforeseen = run(attempt_within(hours(1), fail_foreign()));
  EXPECT_EQ(std::get<Error>(unforeseen).code, ErrorCode::unavailable);
}

TEST(Attempt, IsNoEndOfACancellation) {
  const auto fail = [](boost::system::error_code code) -> Task<void> {
    co_await sleep_for(milliseconds(1));
    throw boost::system::system_error(code);
  };
  EXPECT_THROW(run(attempt(fail(asio::error::operation_aborted))), boost::system::system_error);
  const auto broken = run(attempt(fail(asio::error::connection_reset)));
  EXPECT_EQ(std::get<Error>(broken).code, ErrorCode::unavailable);
}

TEST(Both, GivesBothValuesOrOneFailure) {
  const Stopwatch watch;
  const auto [one, other] = run(both(say("yes"), say("no")));
  EXPECT_EQ(one + other, "yesno");
  EXPECT_EQ(code_of(both(fail_with(ErrorCode::conflict), say("no"))), ErrorCode::conflict);
  EXPECT_EQ(code_of(both(say("yes"), fail_with(ErrorCode::timeout))), ErrorCode::timeout);
  EXPECT_EQ(code_of(both(fail_with(ErrorCode::conflict), fail_with(ErrorCode::timeout))),
            ErrorCode::conflict);
}

// Whether the task that was left ends by itself: it sets `ended`.
Task<void> end_soon(bool& ended) {
  co_await sleep_for(milliseconds(50));
  ended = true;
}

Task<bool> left_and_ended(bool& ended) {
  auto leaves = []() -> Task<bool> { co_return true; };
  auto leaving = ends_unless_detached(end_soon(ended), milliseconds(1), leaves);
  const bool waited = co_await std::move(leaving);
  EXPECT_FALSE(waited);
  EXPECT_FALSE(ended);
  co_await sleep_for(milliseconds(500));
  co_return ended;
}

TEST(EndsUnlessLeft, ATaskThatIsLeftGoesOn) {
  const Stopwatch watch;
  bool ended = false;
  EXPECT_TRUE(run(left_and_ended(ended)));
}

TEST(EndsUnlessLeft, ATaskThatEndsIsNotWaitedForAnyLonger) {
  const Stopwatch watch;
  int asked = 0;
  auto stays = [&asked]() -> Task<bool> {
    ++asked;
    co_return false;
  };
  EXPECT_TRUE(run(ends_unless_detached(nothing(), hours(1), stays)));
  bool ended = false;
  EXPECT_TRUE(run(ends_unless_detached(end_soon(ended), hours(1), stays)));
  EXPECT_TRUE(ended);
  EXPECT_EQ(asked, 0);
  ended = false;
  EXPECT_TRUE(run(ends_unless_detached(end_soon(ended), milliseconds(1), stays)));
  EXPECT_GT(asked, 0);
}

TEST(EndsUnlessLeft, WhoeverIsCancelledOrFailsCancelsTheTask) {
  const Stopwatch watch;
  bool gone = false;
  auto stays = []() -> Task<bool> { co_return false; };
  auto waiting = ends_unless_detached(wait_long(gone), milliseconds(1), stays);
  EXPECT_FALSE(run(with_timeout(milliseconds(20), std::move(waiting))).has_value());
  EXPECT_TRUE(gone);
  gone = false;
  auto fails = []() -> Task<bool> {
    throw Error(ErrorCode::timeout, "no");
    co_return false;
  };
  EXPECT_EQ(code_of(ends_unless_detached(wait_long(gone), milliseconds(1), fails)),
            ErrorCode::timeout);
  EXPECT_TRUE(gone);
}

TEST(WithCompanion, EndsAsTheMainTaskEnds) {
  const Stopwatch watch;
  bool gone = false;
  EXPECT_EQ(run(with_companion(say("yes"), wait_long(gone))), "yes");
  EXPECT_TRUE(gone) << "the companion is cancelled";
  EXPECT_EQ(run(with_companion(say("yes"), fail_foreign())), "yes");
  gone = false;
  EXPECT_EQ(code_of(with_companion(fail_with(ErrorCode::conflict), wait_long(gone))),
            ErrorCode::conflict);
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace sandgate
