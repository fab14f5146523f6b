#include "gateway/placement/account.hpp"

#include <gtest/gtest.h>

#include "gateway/placement/filter.hpp"
#include "gateway/placement/place.hpp"
#include "gateway/placement/placement_settings.hpp"
#include "tests/support/fake_provider.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::FakeProvider;
using AccountFault = test::FakeProvider::Fault;

TEST(Account, LimitsWhatIsUnderWayAndWhatAMinuteHas) {
  const auto account = std::make_shared<Account>();
  const auto now = Account::Steady::now();
  const AccountLimits two{.creates_at_once = 2};
  Account::Slot first = account->take(two, now), second = account->take(two, now);
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(account->take(two, now));
  second = {};
  EXPECT_TRUE(account->is_free(two, now));
  const AccountLimits three_a_minute{.creates_per_minute = 3};
  EXPECT_TRUE(account->take(three_a_minute, now));
  EXPECT_FALSE(account->take(three_a_minute, now)) << "the two above count";
  EXPECT_TRUE(account->take({}, now)) << "who has no limit is not held to another's";
  EXPECT_TRUE(account->take(three_a_minute, now + seconds(61)));
}

TEST(Account, RestsForAllWhoUseIt) {
  const auto account = std::make_shared<Account>();
  const auto now = Account::Steady::now();
  account->back_off(seconds(20), now);
  account->back_off(seconds(1), now);
  EXPECT_FALSE(account->is_free({}, now + seconds(19)));
  EXPECT_TRUE(account->is_free({}, now + seconds(20)));
  account->back_off(std::chrono::hours(3), now);
  EXPECT_TRUE(account->is_free({}, now + seconds(300)));
}

TEST(PlacementSettings, AreReadApartFromTheKindsOwn) {
  Problems problems;
  const Json settings = {{"url", "https://x"},
                         {"attempt_deadline_ms", 500},
                         {"creates_per_minute", 30},
                         {"creates_at_once", 4}};
  const PlacementSettings read = read_placement_settings(settings, problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(read.attempt_deadline, milliseconds(500));
  EXPECT_EQ(read.account, (AccountLimits{.creates_per_minute = 30, .creates_at_once = 4}));
  EXPECT_EQ(backend_settings(settings), (Json{{"url", "https://x"}}));
  read_placement_settings({{"creates_at_once", 0}}, problems);
  ASSERT_EQ(problems.fields().size(), 1u);
  EXPECT_EQ(problems.fields()[0].path, "/settings/creates_at_once");
}

// "a" and "b" are one account, "c" is another.
struct Accounts {
  SystemClock clock;
  HealthBoard board{clock};
  std::shared_ptr<Account> shared = std::make_shared<Account>();
  DeploymentSet set{make("a", shared), make("b", shared), make("c", std::make_shared<Account>())};

  static DeploymentPtr make(const std::string& name, std::shared_ptr<Account> account) {
    auto backend = std::make_shared<FakeProvider>(name);
    return std::make_shared<const Deployment>(Deployment{.name = name,
                                                         .provider = name,
                                                         .backend = backend,
                                                         .descriptor = backend->descriptor(),
                                                         .account = std::move(account),
                                                         .account_limits = {.creates_at_once = 1}});
  }
  FakeProvider& fake(size_t i) { return static_cast<FakeProvider&>(*set[i]->backend); }
  Decision decision(int64_t hedge_after_ms = 0) {
    EffectiveRequest request;
    request.profile.placement.strategy = Strategy::priority;
    request.profile.placement.order = {"a", "b", "c"};
    request.profile.placement.fallback.hedge_after_ms = hedge_after_ms;
    return decide(request, TenantId{}, "p@1", "rq",
                  candidates_of(set, board, PriceSnapshot(), TenantId{}, Profile{}, clock.now()));
  }
};

TEST(Account, WhatOneDeploymentUsesTheOtherLacks) {
  Accounts accounts;
  const Account::Slot slot = accounts.shared->take({.creates_at_once = 1});
  const Decision decision = accounts.decision();
  EXPECT_EQ(decision.eligible(), 1u);
  EXPECT_EQ(decision.candidates.front().deployment->name, "c");
  EXPECT_EQ(decision.candidates.back().rejected_because, std::vector<std::string>{"account_limit"});
  EXPECT_TRUE(decision.candidates.back().only_now);
}

TEST(Decision, LooksAtNoOtherTenantsDeployments) {
  Accounts accounts;
  Deployment foreign = *accounts.set[0];
  foreign.tenant = TenantId::make();
  accounts.set[0] = std::make_shared<const Deployment>(foreign);
  const auto seen = [&](const TenantId& tenant) {
    return candidates_of(accounts.set, accounts.board, PriceSnapshot(), tenant, Profile{},
                         accounts.clock.now());
  };
  EXPECT_EQ(seen(*foreign.tenant).size(), 3u);
  EXPECT_EQ(seen(TenantId::make()).size(), 2u);
}

TEST(Rank, SharesByTheDeploymentsOwnWeightsUnlessTheProfileHasSome) {
  Accounts accounts;
  for (const auto& [i, weight] : {std::pair(0, 30), std::pair(1, 10), std::pair(2, 0)}) {
    Deployment own = *accounts.set[i];
    own.weight = weight;
    accounts.set[i] = std::make_shared<const Deployment>(own);
  }
  EffectiveRequest request;
  request.profile.placement.strategy = Strategy::weighted;
  const auto wins = [&] {
    const auto candidates = candidates_of(accounts.set, accounts.board, PriceSnapshot(), TenantId{},
                                          Profile{}, accounts.clock.now());
    std::map<std::string, int> counts;
    for (int i = 0; i < 4000; ++i) {
      const std::string seed = "rq" + std::to_string(i);
      const Decision made = decide(request, TenantId{}, "p@1", seed, candidates);
      ++counts[made.candidates.front().deployment->name];
    }
    return counts;
  };
  EXPECT_NEAR(wins()["a"], 3000, 150);
  EXPECT_EQ(wins()["c"], 0);
  request.profile.placement.weights = {{"c", 1}};
  EXPECT_EQ(wins(), (std::map<std::string, int>{{"c", 4000}}));
}

TEST(Account, WhatTheBreakerRefusesIsNoCreate) {
  Accounts accounts;
  Deployment limited = *accounts.set[0];
  limited.account = std::make_shared<Account>();
  limited.account_limits = {.creates_per_minute = 1};
  accounts.set[0] = std::make_shared<const Deployment>(limited);
  const Decision decision = accounts.decision();
  for (int i = 0; i < 5; ++i) accounts.board.failed({"a"}, Error(ErrorCode::unavailable, "away"));
  const Placement placement = test::run(place(decision, {.sandbox_id = "x"}, accounts.board));
  EXPECT_EQ(placement.placed->deployment->name, "b");
  EXPECT_TRUE(limited.account->is_free(limited.account_limits));
}

// Between the decision and the attempt, others may take what is left.
TEST(Account, WhoComesTooLateIsToldWhatWhoComesLaterIs) {
  Accounts accounts;
  accounts.set = {accounts.set[0]};
  const Decision early = accounts.decision();
  ASSERT_EQ(early.eligible(), 1u);
  const Account::Slot slot = accounts.shared->take({.creates_at_once = 1});
  const Placement late = test::run(place(early, {.sandbox_id = "x"}, accounts.board));
  ASSERT_TRUE(late.error);
  const Error later = nothing_eligible(accounts.decision());
  EXPECT_EQ(late.error->code, ErrorCode::no_capacity);
  EXPECT_STREQ(late.error->what(), later.what());
  EXPECT_EQ(late.error->retry_after, later.retry_after);
  EXPECT_EQ(late.error->details, later.details);
  EXPECT_EQ(late.error->details["candidates"][0]["rejected_because"],
            Json::array({"account_limit"}));
}

TEST(Account, WhatIsLeftOfARestIsWhenToTryAgain) {
  Accounts accounts;
  accounts.set = {accounts.set[0]};
  Error slow(ErrorCode::rate_limited, "slow down");
  slow.retry_after = seconds(7);
  accounts.board.failed({"a"}, slow);
  const auto told = [&] { return *nothing_eligible(accounts.decision()).retry_after; };
  EXPECT_LE(told(), seconds(7));
  EXPECT_GT(told(), seconds(5));
  accounts.shared->back_off(seconds(20));
  EXPECT_GT(told(), seconds(18));
}

TEST(Account, ARetryAfterRestsAllOfItsDeployments) {
  Accounts accounts;
  class Limiting : public FakeProvider {
   public:
    using FakeProvider::FakeProvider;
    Task<BackendSandbox> create(CreateSpec) override {
      Error error(ErrorCode::rate_limited, "slow down");
      error.retry_after = seconds(30);
      throw error;
      co_return BackendSandbox{};
    }
  };
  Deployment limiting = *accounts.set[0];
  limiting.backend = std::make_shared<Limiting>("a");
  accounts.set[0] = std::make_shared<const Deployment>(limiting);
  const Placement placement =
      test::run(place(accounts.decision(), {.sandbox_id = "x"}, accounts.board));
  ASSERT_TRUE(placement.placed);
  EXPECT_EQ(placement.placed->deployment->name, "c") << "b is the same account";
  EXPECT_EQ(placement.attempts.size(), 2u);
  EXPECT_EQ(accounts.fake(1).creates(), 0);
  EXPECT_EQ(accounts.decision().eligible(), 1u);
}

TEST(Account, AHedgeGoesToAnotherAccountAndGivesItsPlaceBack) {
  Accounts accounts;
  accounts.fake(0).fail_creates(AccountFault::slow, ErrorCode::unavailable, milliseconds(300));
  const Placement placement =
      test::run(place(accounts.decision(20), {.sandbox_id = "x"}, accounts.board));
  ASSERT_TRUE(placement.placed);
  EXPECT_EQ(placement.placed->deployment->name, "c");
  EXPECT_EQ(accounts.fake(1).creates(), 0);
  // run() has waited for the late one.
  EXPECT_TRUE(accounts.shared->is_free({.creates_at_once = 1}));
}

TEST(Place, WhatAHedgeOvertookIsJudgedAllTheSame) {
  Accounts accounts;
  for (size_t i = 0; i < 3; ++i) {
    Deployment own = *accounts.set[i];
    own.account = nullptr;
    own.attempt_deadline = milliseconds(60);
    accounts.set[i] = std::make_shared<const Deployment>(own);
  }
  accounts.fake(0).fail_creates(AccountFault::hang);
  for (int i = 0; i < 5; ++i)
    test::run(place(accounts.decision(10), {.sandbox_id = "x"}, accounts.board));
  EXPECT_EQ(accounts.board.health_of({"a"}).breaker, Breaker::open);
  accounts.fake(1).fail_creates(AccountFault::slow, ErrorCode::unavailable, milliseconds(40));
  test::run(place(accounts.decision(10), {.sandbox_id = "x"}, accounts.board));
  EXPECT_GT(accounts.board.health_of({"b"}).latency_p50_ms.value_or(0), 0);
  EXPECT_EQ(accounts.fake(1).alive(), 5u) << "the late one was killed";
}

}  // namespace
}  // namespace sandgate
