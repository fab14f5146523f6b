#include <gtest/gtest.h>

#include "gateway/placement/place.hpp"
#include "tests/placement/candidates.hpp"
#include "tests/placement/fake_clock.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

using test::candidate;
using test::deployment;
using test::FakeClock;
using test::FakeProvider;
using test::kTenant;
using Fault = test::FakeProvider::Fault;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Three deployments in order, and the fakes behind them.
struct Trio {
  FakeClock clock;
  HealthBoard board{clock};
  std::vector<Deployment> all{deployment("a"), deployment("b"), deployment("c")};

  FakeProvider& fake(size_t i) { return static_cast<FakeProvider&>(*all[i].backend); }
  Placement place(const std::function<void(Profile&)>& change = {}) {
    EffectiveRequest request;
    request.profile.placement.strategy = Strategy::priority;
    request.profile.placement.order = {"a", "b", "c"};
    if (change) change(request.profile);
    std::vector<Candidate> candidates;
    for (const Deployment& one : all) candidates.push_back(candidate(one));
    auto decision = decide(request, kTenant, "python@1", "rq1", candidates);
    return test::run(sandgate::place(decision, {.sandbox_id = SandboxId::make().value}, board));
  }
};

TEST(Place, FallsThroughOnWhatAnotherBackendCures) {
  for (const ErrorCode code : {ErrorCode::rate_limited, ErrorCode::no_capacity,
                               ErrorCode::unavailable, ErrorCode::timeout, ErrorCode::not_found}) {
    Trio trio;
    trio.fake(0).fail_creates(Fault::error, code);
    const Placement placement = trio.place();
    ASSERT_TRUE(placement.placed);
    EXPECT_EQ(placement.placed->deployment->name, "b");
    EXPECT_EQ(placement.attempts.size(), 2u);
  }
}

TEST(Place, WhatMayPassSaysWhenToComeBack) {
  const auto wait_after = [](ErrorCode code) {
    Trio trio;
    for (size_t i = 0; i < 3; ++i) trio.fake(i).fail_creates(Fault::error, code);
    return trio.place().error->retry_after;
  };
  EXPECT_EQ(wait_after(ErrorCode::unavailable), seconds(2));
  EXPECT_EQ(wait_after(ErrorCode::timeout), seconds(2));
  EXPECT_EQ(wait_after(ErrorCode::no_capacity), seconds(30));
  EXPECT_FALSE(wait_after(ErrorCode::unsupported));
  EXPECT_FALSE(wait_after(ErrorCode::invalid));
}

TEST(Place, AnAnswerThatIsNoSandboxIsAFailure) {
  Trio trio;
  trio.fake(0).fail_creates(Fault::nonsense);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(trio.place().placed->deployment->name, "b");
  EXPECT_EQ(trio.board.health_of({"a"}).breaker, Breaker::open);
}

// Names what it made in words of its own.
struct Misnaming : FakeProvider {
  using FakeProvider::FakeProvider;
  Task<BackendSandbox> create(CreateSpec spec) override {
    auto creating = FakeProvider::create(std::move(spec));
    BackendSandbox made = co_await std::move(creating);
    made.backend_id = id;
    co_return made;
  }
  std::string id;
};

// The attempt stays open: what was made is looked for by its tag, and ended.
TEST(Place, AnAnswerWhoseIdIsNoneIsAFailure) {
  for (const char* id : {"sb a", "../../v1/x", "a/../b", "a//b", "/a", "a/", ".", "\xc3\xa9"}) {
    const auto misnaming = std::make_shared<Misnaming>("a");
    misnaming->id = id;
    Trio trio;
    trio.all[0].backend = misnaming;
    const Placement placement = trio.place();
    EXPECT_EQ(placement.placed->deployment->name, "b") << id;
    EXPECT_EQ(placement.attempts[0].outcome, AttemptOutcome::unknown) << id;
    EXPECT_EQ(misnaming->kills(), 0) << "an id that is none is asked nothing of";
  }
}

// Says after each create that it gave less than its descriptor promises.
struct Boasting : FakeProvider {
  using FakeProvider::FakeProvider;
  Task<BackendSandbox> create(CreateSpec spec) override {
    auto creating = FakeProvider::create(std::move(spec));
    BackendSandbox made = co_await std::move(creating);
    made.isolation = isolation;
    made.region = region;
    co_return made;
  }
  Isolation isolation = Isolation::container;
  std::string region;
};

TEST(Place, WhatIsLessThanWasAskedForIsKilledAndAnotherIsTried) {
  const auto placed_on = [](Isolation isolation, const std::string& region) {
    Trio trio;
    auto boasting = std::make_shared<Boasting>("a");
    boasting->isolation = isolation;
    boasting->region = region;
    trio.all[0].backend = boasting;
    trio.all[0].descriptor.regions = trio.all[1].descriptor.regions = {"eu"};
    const Placement placement =
        trio.place([](Profile& profile) { profile.placement.regions = {"eu"}; });
    const std::string name = placement.placed->deployment->name;
    EXPECT_EQ(boasting->kills(), name == "a" ? 0 : 1);
    return name;
  };
  EXPECT_EQ(placed_on(Isolation::container, "eu"), "a");
  EXPECT_EQ(placed_on(Isolation::microvm, ""), "a");
  EXPECT_EQ(placed_on(Isolation::process, "eu"), "b");
  EXPECT_EQ(placed_on(Isolation::container, "us"), "b");
}

TEST(Place, ABackendWithSeveralRegionsIsAskedForOneAndHasToNameIt) {
  const auto placed_on = [](const std::string& region) {
    Trio trio;
    auto boasting = std::make_shared<Boasting>("a");
    boasting->region = region;
    trio.all[0].backend = boasting;
    trio.all[0].descriptor.regions = {"us", "eu"};
    const Placement placement = trio.place([](Profile& profile) {
      profile.placement.regions = {"asia", "eu"};
    });
    EXPECT_EQ(boasting->last_spec().region, "eu");
    return placement.placed->deployment->name;
  };
  EXPECT_EQ(placed_on("eu"), "a");
  EXPECT_EQ(placed_on(""), "b");
  Trio trio;
  trio.place();
  EXPECT_EQ(trio.fake(0).last_spec().region, "");
}

TEST(Place, StopsAtTheFirstBackendThatSaysTheRequestIsWrong) {
  Trio trio;
  trio.fake(0).fail_creates(Fault::error, ErrorCode::invalid);
  const Placement placement = trio.place();
  EXPECT_FALSE(placement.placed);
  EXPECT_EQ(placement.error->code, ErrorCode::invalid);
  EXPECT_EQ(trio.fake(1).creates(), 0);
}

TEST(Place, OnlyWhatNoBackendCanEverMakeIsUnsupported) {
  const auto code_after = [](const std::array<ErrorCode, 3>& codes) {
    Trio trio;
    for (size_t i = 0; i < codes.size(); ++i) trio.fake(i).fail_creates(Fault::error, codes[i]);
    return trio.place().error->code;
  };
  constexpr auto never = ErrorCode::unsupported, now = ErrorCode::no_capacity;
  EXPECT_EQ(code_after({never, never, never}), never);
  EXPECT_EQ(code_after({now, never, never}), now);
  EXPECT_EQ(code_after({never, never, now}), now);
}

TEST(Place, AHangingBackendCostsOneAttemptsDeadlineAndStaysUnknown) {
  Trio trio;
  trio.fake(0).fail_creates(Fault::hang);
  trio.all[0].attempt_deadline = milliseconds(200);
  const Placement placement = trio.place();
  ASSERT_TRUE(placement.placed);
  EXPECT_EQ(placement.placed->deployment->name, "b");
  EXPECT_EQ(placement.attempts[0].outcome, AttemptOutcome::unknown);
  EXPECT_EQ(placement.attempts[0].code, ErrorCode::timeout);
}

// One tenant's large image must not keep the creates of all others away.
TEST(Place, HowLongANewImageTakesSaysNothingOfABackendThatWorks) {
  for (const bool works : {false, true}) {
    Trio trio;
    trio.all[0].attempt_deadline = milliseconds(20);
    trio.all[0].provider = "vendor";
    trio.all[0].descriptor.images.clear();
    const auto place = [&trio](const std::string& image) {
      return trio.place([&image](Profile& profile) { profile.images["vendor"] = image; });
    };
    if (works) {
      EXPECT_EQ(place("usual").placed->deployment->name, "a");
    }
    trio.fake(0).fail_creates(Fault::hang);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(place("large").placed->deployment->name, "b");
    EXPECT_EQ(trio.board.health_of({"a"}).breaker, works ? Breaker::closed : Breaker::open);
    for (int i = 0; i < 5; ++i) place("usual");
    EXPECT_EQ(trio.board.health_of({"a"}).breaker, Breaker::open);
  }
}

TEST(Place, TheWholeDeadlineHoldsAndAttemptsAreLimited) {
  Trio trio;
  for (size_t i = 0; i < 3; ++i) trio.fake(i).fail_creates(Fault::hang);
  for (Deployment& one : trio.all) one.attempt_deadline = milliseconds(600);
  const auto start = std::chrono::steady_clock::now();
  const Placement late = trio.place([](Profile& p) { p.placement.fallback.deadline_ms = 900; });
  EXPECT_EQ(late.error->code, ErrorCode::timeout);
  EXPECT_EQ(late.attempts.size(), 2u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(10));
  Trio full;
  for (size_t i = 0; i < 3; ++i) full.fake(i).fail_creates(Fault::error, ErrorCode::rate_limited);
  const Placement none = full.place([](Profile& p) { p.placement.fallback.attempts = 2; });
  EXPECT_EQ(none.error->code, ErrorCode::no_capacity);
  EXPECT_EQ(none.attempts.size(), 2u);
}

TEST(Place, HowSoonATenantGivesUpSaysNothingOfTheBackend) {
  Trio trio;
  const auto impatient = [](Profile& p) {
    p.placement.fallback.attempts = 1;
    p.placement.fallback.deadline_ms = 100;
  };
  trio.fake(0).fail_creates(Fault::slow, ErrorCode::unavailable, milliseconds(300));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(trio.place(impatient).error->code, ErrorCode::timeout);
  EXPECT_EQ(trio.board.health_of({"a"}).breaker, Breaker::closed);
  EXPECT_EQ(trio.fake(0).alive(), 0u) << "what came late is killed";
  trio.fake(0).fail_creates(Fault::hang);
  trio.all[0].attempt_deadline = milliseconds(300);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(trio.place(impatient).error->code, ErrorCode::timeout);
  EXPECT_EQ(trio.board.health_of({"a"}).breaker, Breaker::open) << "it never answers";
}

TEST(Place, AHedgeRacesAndTheLateOneIsKilled) {
  Trio trio;
  trio.fake(0).fail_creates(Fault::slow, ErrorCode::unavailable, milliseconds(1000));
  const Placement placement =
      trio.place([](Profile& p) { p.placement.fallback.hedge_after_ms = 30; });
  ASSERT_TRUE(placement.placed);
  EXPECT_EQ(placement.placed->deployment->name, "b");
  EXPECT_GE(placement.attempts[0].duration, milliseconds(30));
  // run() ends when nothing is left to do, the late kill included.
  EXPECT_EQ(trio.fake(0).creates(), 1);
  EXPECT_EQ(trio.fake(0).alive(), 0u);
  EXPECT_EQ(trio.fake(1).alive(), 1u);
}

TEST(Place, ALateOneThatIsSomebodyElsesLivesOn) {
  Trio trio;
  test::run(trio.fake(0).create({.sandbox_id = "theirs"}));
  trio.fake(0).fail_creates(Fault::repeated, ErrorCode::unavailable, milliseconds(200));
  const Placement placement =
      trio.place([](Profile& p) { p.placement.fallback.hedge_after_ms = 30; });
  ASSERT_TRUE(placement.placed);
  EXPECT_EQ(placement.placed->deployment->name, "b");
  EXPECT_EQ(trio.fake(0).creates(), 2);
  EXPECT_TRUE(trio.fake(0).has("theirs"));
}

// Cannot be connected to.
class Unreachable : public FakeProvider {
 public:
  using FakeProvider::FakeProvider;
  Task<BackendSandbox> create(CreateSpec) override {
    throw never_sent(Error(code, "no connection"));
    co_return BackendSandbox{};
  }
  ErrorCode code = ErrorCode::unavailable;
};

TEST(Place, WhatWasNeverSentMadeNothing) {
  for (const ErrorCode code : {ErrorCode::unavailable, ErrorCode::timeout}) {
    Trio trio;
    const auto unreachable = std::make_shared<Unreachable>("a");
    unreachable->code = code;
    trio.all[0].backend = unreachable;
    trio.fake(1).fail_creates(Fault::error, code);
    const Placement placement = trio.place();
    ASSERT_EQ(placement.attempts.size(), 3U);
    EXPECT_EQ(placement.attempts[0].outcome, AttemptOutcome::failed);
    EXPECT_EQ(placement.attempts[0].code, code);
    EXPECT_EQ(placement.attempts[1].outcome, AttemptOutcome::unknown);
    EXPECT_GT(trio.board.health_of(trio.all[0].key()).failure_rate, 0) << "it counts all the same";
  }
}

TEST(Place, ThreeBrokenOfThirtyNeverFailACreate) {
  FakeClock clock;
  HealthBoard board(clock);
  std::vector<Deployment> all;
  for (int i = 10; i < 40; ++i) all.push_back(deployment("d" + std::to_string(i)));
  for (size_t i = 0; i < 3; ++i)
    static_cast<FakeProvider&>(*all[i].backend).fail_creates(Fault::error);
  EffectiveRequest request;
  request.profile.placement.strategy = Strategy::weighted;
  int failing = 0, attempts = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<Candidate> candidates;
    for (const Deployment& one : all) {
      candidates.push_back(candidate(one));
      candidates.back().health = board.health_of(one.key());
    }
    auto decision = decide(request, kTenant, "p@1", "rq" + std::to_string(i), candidates);
    const auto placement = test::run(place(decision, {.sandbox_id = "x"}, board));
    ASSERT_TRUE(placement.placed);
    for (const Attempt& one : placement.attempts) {
      ++attempts;
      if (one.outcome != AttemptOutcome::created) ++failing;
    }
  }
  EXPECT_LE(failing, 15) << "five each until the breakers open";
}

}  // namespace
}  // namespace sandgate
