#include <gtest/gtest.h>

#include <set>

#include "gateway/placement/filter.hpp"
#include "gateway/placement/place.hpp"
#include "gateway/placement/rank.hpp"
#include "tests/placement/fake_clock.hpp"
#include "tests/support/fake_provider.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

using test::FakeClock;
using test::FakeProvider;
using Fault = test::FakeProvider::Fault;
using std::chrono::milliseconds;
using std::chrono::seconds;

const TenantId kTenant{"tnaaaaaaaaaaaaaaaaaaaaaaaa"};

Deployment deployment(const std::string& name) {
  auto backend = std::make_shared<FakeProvider>(name);
  return {.name = name, .provider = name, .backend = backend, .descriptor = backend->descriptor()};
}

Candidate candidate(Deployment one) {
  return {.deployment = std::make_shared<const Deployment>(std::move(one)),
          .price_per_hour = Decimal::parse("0.05"),
          .expected_price = Money{*Decimal::parse("0.05"), "USD"}};
}

Requirements requirements(const std::function<void(Profile&)>& change = {}) {
  EffectiveRequest request;
  request.profile.name = "python";
  if (change) change(request.profile);
  return requirements_of(request, kTenant);
}

std::vector<std::string> reasons(const Requirements& required, Candidate one) {
  std::vector<Candidate> candidates{std::move(one)};
  filter(required, candidates);
  return candidates.front().rejected_because;
}

void show(Profile& profile, const std::string& path) {
  profile.workspace = Workspace::read_only;
  profile.workspace_path = path;
}

Descriptor showing(const std::string& path) {
  Descriptor descriptor = deployment("one").descriptor;
  descriptor.controls.insert(Control::host_workspace);
  descriptor.workspaces = {path};
  return descriptor;
}

struct FilterCase {
  std::string reason;
  std::function<void(Profile&)> profile;
  std::function<void(Deployment&)> deployment;
};

std::vector<FilterCase> filter_cases() {
  return {
      {"disabled", {}, [](Deployment& d) { d.enabled = false; }},
      {"tenant_not_allowed", {}, [](Deployment& d) { d.tenant = TenantId::make(); }},
      {"not_in_only", [](Profile& p) { p.placement.only = {"other"}; }, {}},
      {"excluded", [](Profile& p) { p.placement.exclude = {"one"}; }, {}},
      {"isolation_too_weak", [](Profile& p) { p.isolation = Isolation::microvm; }, {}},
      {"persistence_missing", [](Profile& p) { p.persistence = Persistence::checkpoint; }, {}},
      {"verb_missing:ports", [](Profile& p) { p.requires_verbs = {Verb::ports}; }, {}},
      {"verb_missing:pause", [](Profile& p) { p.on_idle = EndAction::pause; },
       [](Deployment& d) { d.descriptor.verbs.erase(Verb::pause); }},
      {"verb_loses_state:pause", [](Profile& p) { p.on_expiry = EndAction::pause; },
       [](Deployment& d) { d.descriptor.verbs[Verb::pause] = Keeps::nothing; }},
      {"network_not_enforceable:network_rules",
       [](Profile& p) { p.network.allow = {"api.example.com:443"}; },
       [](Deployment& d) { d.descriptor.controls.erase(Control::network_rules); }},
      {"secrets_not_injectable",
       [](Profile& p) {
         p.secrets = {{"KEY", "example.com", "X"}};
       },
       {}},
      {"control_missing:allow_debug", [](Profile& p) { p.allow_debug = true; }, {}},
      {"workspace_not_shown", [](Profile& p) { show(p, "/srv/ab"); },
       [](Deployment& d) { d.descriptor = showing("/srv/a"); }},
      {"control_missing:memory_limit",
       {},
       [](Deployment& d) { d.descriptor.controls.erase(Control::memory_limit); }},
      {"resources_above_limit:vcpu", [](Profile& p) { p.resources.milli_vcpu = 9000; }, {}},
      {"resources_above_limit:memory_mib", [](Profile& p) { p.resources.memory_mib = 20000; }, {}},
      {"resources_above_limit:disk_gib", [](Profile& p) { p.resources.disk_gib = 65; }, {}},
      {"ttl_above_limit", [](Profile& p) { p.ttl_seconds = 700; },
       [](Deployment& d) { d.descriptor.limits.max_ttl_seconds = 600; }},
      {"region_not_allowed", [](Profile& p) { p.placement.regions = {"us"}; }, {}},
      {"image_not_mapped", [](Profile& p) { p.image = "alpine"; }, {}},
      {"price_above_limit", [](Profile& p) { p.placement.max_cost_per_hour = "0.04"; }, {}},
  };
}

TEST(Filter, NamesEveryReason) {
  for (const FilterCase& one : filter_cases()) {
    Deployment changed = deployment("one");
    if (one.deployment) one.deployment(changed);
    const auto found = reasons(requirements(one.profile), candidate(std::move(changed)));
    EXPECT_EQ(found, std::vector<std::string>{one.reason});
  }
  EXPECT_TRUE(reasons(requirements(), candidate(deployment("one"))).empty());
  Deployment below = deployment("one");
  below.descriptor = showing("/srv/a");
  const Requirements inside = requirements([](Profile& p) { show(p, "/srv/a/b"); });
  EXPECT_TRUE(reasons(inside, candidate(std::move(below))).empty());
}

TEST(Filter, UnknownPricePassesOnlyWithoutACeilingAndHealthIsPassing) {
  const auto dear = [](Profile& p) { p.placement.max_cost_per_hour = "9"; };
  Candidate unpriced = candidate(deployment("one"));
  unpriced.price_per_hour.reset();
  EXPECT_EQ(reasons(requirements(dear), unpriced), std::vector<std::string>{"price_unknown"});
  EXPECT_TRUE(reasons(requirements(), unpriced).empty());
  std::vector<Candidate> ill{candidate(deployment("one"))};
  ill.front().health.breaker = Breaker::open;
  filter(requirements(), ill);
  EXPECT_EQ(ill.front().rejected_because, std::vector<std::string>{"breaker_open"});
  EXPECT_TRUE(ill.front().only_now);
}

std::vector<std::string> ranked(const Requirements& required, std::string_view seed,
                                std::vector<Candidate> candidates) {
  rank(required, seed, candidates);
  std::vector<std::string> names;
  for (const Candidate& one : candidates) names.push_back(one.deployment->name);
  return names;
}

TEST(Rank, OrdersByExpectedPriceThenHealthThenName) {
  std::vector<Candidate> some;
  for (const char* name : {"e", "d", "c", "b", "a"}) some.push_back(candidate(deployment(name)));
  some[0].expected_price = Money{*Decimal::parse("0.01"), "EUR"};  // how it compares is not known
  some[1].expected_price->amount = *Decimal::parse("0.049999999999");
  some[2].expected_price.reset();
  some[2].price_per_hour = Decimal::parse("0.01");
  some[4].health.failure_rate = 0.5;
  EXPECT_EQ(ranked(requirements(), "x", some), (std::vector<std::string>{"d", "b", "a", "c", "e"}));
}

TEST(Rank, FollowsPriorityAndSharesByWeight) {
  std::vector<Candidate> some;
  for (const char* name : {"a", "b", "c"}) some.push_back(candidate(deployment(name)));
  const auto first = requirements([](Profile& p) {
    p.placement.strategy = Strategy::priority;
    p.placement.order = {"c", "a"};
  });
  EXPECT_EQ(ranked(first, "x", some), (std::vector<std::string>{"c", "a", "b"}));
  const auto shared = requirements([](Profile& p) {
    p.placement.strategy = Strategy::weighted;
    p.placement.weights = {{"a", 80}, {"b", 20}};
  });
  std::map<std::string, int> wins;
  for (int i = 0; i < 10'000; ++i) ++wins[ranked(shared, "rq" + std::to_string(i), some).front()];
  EXPECT_NEAR(wins["a"], 8000, 150);
  EXPECT_NEAR(wins["b"], 2000, 150);
  EXPECT_EQ(wins["c"], 0);
  EXPECT_EQ(ranked(shared, "rq7", some), ranked(shared, "rq7", some));
}

TEST(Rank, FastestSharesAmongTheFastAndExploresALittle) {
  std::vector<Candidate> some;
  for (const char* name : {"cold", "fast", "near", "slow"})
    some.push_back(candidate(deployment(name)));
  some[1].health.latency_p50_ms = 100;
  some[2].health.latency_p50_ms = 110;
  some[3].health.latency_p50_ms = 900;
  const auto fastest = requirements([](Profile& p) { p.placement.strategy = Strategy::fastest; });
  std::map<std::string, int> wins;
  for (int i = 0; i < 4000; ++i) ++wins[ranked(fastest, "rq" + std::to_string(i), some).front()];
  EXPECT_NEAR(wins["cold"], 200, 60);
  EXPECT_NEAR(wins["fast"], 1900, 200);
  EXPECT_EQ(wins["slow"], 0);
}

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

TEST(Place, AnAnswerThatIsNoSandboxIsAFailure) {
  Trio trio;
  trio.fake(0).fail_creates(Fault::nonsense);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(trio.place().placed->deployment->name, "b");
  EXPECT_EQ(trio.board.look({"a"}).breaker, Breaker::open);
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

TEST(Place, StopsAtTheFirstBackendThatSaysTheRequestIsWrong) {
  Trio trio;
  trio.fake(0).fail_creates(Fault::error, ErrorCode::invalid);
  const Placement placement = trio.place();
  EXPECT_FALSE(placement.placed);
  EXPECT_EQ(placement.error->code, ErrorCode::invalid);
  EXPECT_EQ(trio.fake(1).creates(), 0);
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
  EXPECT_EQ(trio.board.look({"a"}).breaker, Breaker::closed);
  EXPECT_EQ(trio.fake(0).alive(), 0u) << "what came late is killed";
  trio.fake(0).fail_creates(Fault::hang);
  trio.all[0].attempt_deadline = milliseconds(300);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(trio.place(impatient).error->code, ErrorCode::timeout);
  EXPECT_EQ(trio.board.look({"a"}).breaker, Breaker::open) << "it never answers";
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
      candidates.back().health = board.look(one.key());
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

TEST(Decision, TellsUnsupportedFromNoCapacityAndHidesOthersDeployments) {
  EffectiveRequest request;
  Deployment foreign = deployment("theirs");
  foreign.tenant = TenantId::make();
  std::vector<Candidate> candidates{candidate(deployment("a")), candidate(foreign)};
  candidates[0].health.breaker = Breaker::open;
  const Decision closed = decide(request, kTenant, "p@1", "s", candidates);
  EXPECT_EQ(closed.candidates.size(), 1u);
  EXPECT_EQ(nothing_eligible(closed).code, ErrorCode::no_capacity);
  request.profile.isolation = Isolation::microvm;
  const Decision never = decide(request, kTenant, "p@1", "s", candidates);
  EXPECT_EQ(nothing_eligible(never).code, ErrorCode::unsupported);
  EXPECT_EQ(to_json(never)["chosen"], nullptr);
}

TEST(Decision, WhatWasNotReachedYetPassesSoon) {
  Deployment fresh = deployment("fresh");
  fresh.descriptor = {.known = false};
  EffectiveRequest request;
  request.profile.isolation = Isolation::microvm;
  const Decision early = decide(request, kTenant, "p@1", "s", {candidate(fresh)});
  EXPECT_EQ(nothing_eligible(early).code, ErrorCode::no_capacity);
  EXPECT_LE(nothing_eligible(early).retry_after, std::chrono::seconds(2));
  fresh.enabled = false;
  const Decision off = decide(request, kTenant, "p@1", "s", {candidate(fresh)});
  EXPECT_EQ(nothing_eligible(off).code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace sandgate
