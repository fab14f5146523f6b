#include <gtest/gtest.h>

#include <set>

#include "gateway/placement/filter.hpp"
#include "gateway/placement/place.hpp"
#include "gateway/placement/rank.hpp"
#include "tests/placement/candidates.hpp"
#include "tests/placement/fake_clock.hpp"
#include "tests/support/run.hpp"

namespace sandgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::candidate;
using test::deployment;
using test::FakeClock;
using test::kTenant;

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

TEST(Filter, TakesAMappedImageThatIsListedAndAnyOfABackendThatListsNone) {
  const auto found = [](std::set<std::string> listed) {
    Deployment one = deployment("one");
    one.descriptor.images = std::move(listed);
    const auto maps = [&](Profile& p) { p.images = {{one.provider, "alpine"}}; };
    const Requirements required = requirements(maps);
    return reasons(required, candidate(std::move(one)));
  };
  EXPECT_TRUE(found({"alpine"}).empty());
  EXPECT_TRUE(found({}).empty());
  EXPECT_EQ(found({"debian-12"}), std::vector<std::string>{"image_not_offered"});
}

TEST(Filter, LeavesAMinuteForThePauseAtTheEndOfATime) {
  const auto found = [](int64_t ttl_seconds, EndAction on_expiry) {
    Deployment limited = deployment("one");
    limited.descriptor.limits.max_ttl_seconds = 600;
    const auto asked = [=](Profile& p) {
      p.ttl_seconds = ttl_seconds;
      p.on_expiry = on_expiry;
    };
    return reasons(requirements(asked), candidate(std::move(limited)));
  };
  EXPECT_TRUE(found(600, EndAction::kill).empty());
  EXPECT_TRUE(found(540, EndAction::pause).empty());
  EXPECT_EQ(found(541, EndAction::pause), std::vector<std::string>{"ttl_above_limit:pause"});
  EXPECT_EQ(found(601, EndAction::pause), std::vector<std::string>{"ttl_above_limit"});
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

TEST(Filter, APriceInSeveralCurrenciesIsKnownButWithinNoLimit) {
  Candidate one = candidate(deployment("one"));
  one.price_is_partial = one.price_required = true;
  EXPECT_TRUE(reasons(requirements(), one).empty());
  const auto limited = requirements([](Profile& p) { p.placement.max_cost_per_hour = "9"; });
  EXPECT_EQ(reasons(limited, one), std::vector<std::string>{"price_unknown"});
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

TEST(Rank, WhatIsFreeIsTheCheapestInEveryCurrency) {
  std::vector<Candidate> some;
  for (const char* name : {"a", "b", "own"}) some.push_back(candidate(deployment(name)));
  some[0].expected_price = Money{*Decimal::parse("0.03"), "EUR"};
  some[1].expected_price = Money{*Decimal::parse("0.02"), "EUR"};
  some[2].expected_price = Money{Decimal(), "USD"};
  EXPECT_EQ(ranked(requirements(), "x", some), (std::vector<std::string>{"own", "b", "a"}));
  some[2].price_is_partial = true;
  EXPECT_EQ(ranked(requirements(), "x", some), (std::vector<std::string>{"b", "a", "own"}));
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

TEST(Decision, DurationsAreWholeNumbers) {
  std::vector<Candidate> some;
  for (const char* name : {"a", "b", "c"}) some.push_back(candidate(deployment(name)));
  some[0].health.latency_p50_ms = 21.6;
  some[1].health.latency_p50_ms = 0.2;
  const Json shown = candidates_json(some);
  EXPECT_EQ(shown[0]["latency_p50_ms"].dump(), "22");
  EXPECT_EQ(shown[1]["latency_p50_ms"].dump(), "1") << "0 would read as never measured";
  EXPECT_EQ(shown[2]["latency_p50_ms"], nullptr);
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
