#include <gtest/gtest.h>

#include "gateway/core/for_each_concurrent.hpp"
#include "gateway/sandboxes/extending.hpp"
#include "gateway/sandboxes/pausing.hpp"
#include "gateway/sandboxes/upkeep/budget_enforcer.hpp"
#include "tests/sandboxes/paying_replica.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::enforce;
using test::kPrices;
using test::PayingReplica;
using test::run;
using test::small_order;

TEST(SandboxBudgets, OfAThousandParallelCreatesExactlyThosePaidForAreAdmitted) {
  test::World world;
  PayingReplica replica(world);
  replica.put(world.tenant, R"({"amount":"22.2","currency":"USD","window":"total"})");  // 37 × 0.6
  std::atomic<int> admitted{0}, refused{0};
  auto create = [&](int) -> Task<void> {
    auto creating = replica.lifecycle.create(small_order(world));
    const auto outcome = co_await attempt(std::move(creating));
    const Error* error = std::get_if<Error>(&outcome);
    if (!error)
      ++admitted;
    else if (error->code == ErrorCode::budget_exceeded)
      ++refused;
  };
  const auto all = [&]() -> Task<void> {
    std::vector<int> callers(1000);
    co_await for_each_concurrent(std::move(callers), 100, create);
  };
  run(all());
  EXPECT_EQ(admitted, 37);
  EXPECT_EQ(refused, 963);
  EXPECT_EQ(world.a->alive(), 37u);
  // A second or two of some may have passed when they began to run.
  EXPECT_EQ(world.sql("SELECT reserved <= 22.2 AND reserved > 21.6 FROM budget"), "t");
  EXPECT_EQ(world.sql("SELECT sum(held) = (SELECT reserved FROM budget) FROM reservation"), "t");
}

TEST(SandboxBudgets, NothingStaysSetAsideForWhatEndedOrNeverBegan) {
  test::World world;
  PayingReplica replica(world);
  replica.put(world.tenant, R"({"amount":"9","currency":"USD","window":"total"})");
  const SandboxRecord one = run(replica.lifecycle.create(small_order(world)));
  world.a->fail_creates(test::FakeProvider::Fault::error, ErrorCode::invalid);
  EXPECT_THROW(run(replica.lifecycle.create(small_order(world))), Error);
  EXPECT_EQ(world.sql("SELECT trim_scale(reserved) FROM budget"), "0.6");
  run(replica.lifecycle.kill(world.tenant, one.id));
  EXPECT_EQ(world.sql("SELECT trim_scale(reserved) FROM budget"), "0");
  EXPECT_EQ(world.sql("SELECT count(*) FROM reservation"), "0");
}

std::string refusal(PayingReplica& replica, const test::World& world) {
  try {
    run(replica.lifecycle.create(small_order(world)));
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::budget_exceeded);
    return error.what();
  }
}

TEST(SandboxBudgets, WhatIsChargedInAnotherCurrencyIsRefusedUnderABudgetAndNamedWithout) {
  test::World world;
  PayingReplica replica(world);
  run(replica.prices.publish(price_version_from(
      parse_json(R"({"kind":"charge","currency":"EUR","effective_from":"2026-01-01T00:00:00Z",
        "entries":[{"provider":"*","meter":"memory_gib_second","unit_price":"1000"}]})"),
      "memory")));
  const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
  EXPECT_EQ(to_json(world.row(box.id))["cost"]["other_currencies"], Json::array({"EUR"}));
  replica.put(world.tenant, R"({"amount":"9","currency":"USD","window":"total"})");
  EXPECT_EQ(refusal(replica, world),
            "budget 'main' is in USD and could not limit what is charged in EUR");
  EXPECT_EQ(world.sql("SELECT string_agg(sandbox, ' ') FROM reservation"), box.id.value);
}

TEST(SandboxBudgets, ARiseThatIsPublishedAlreadyIsSetAsideFor) {
  test::World world;
  PayingReplica replica(world);
  // From half its ten minutes on a thousand times as much: 0.3 + 300.
  PriceVersion rise = price_version_from(parse_json(kPrices), "list");
  rise.entries[0].terms.unit_price = Decimal(1);
  rise.effective_from = SystemClock().now() + 300s;
  run(replica.prices.publish(rise));
  replica.put(world.tenant, R"({"amount":"200","currency":"USD","window":"total"})");
  EXPECT_NE(refusal(replica, world), "");
  replica.put(world.tenant, R"({"amount":"400","currency":"USD","window":"total"})");
  const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
  EXPECT_EQ(box.charge_per_hour, "3.6");
  EXPECT_EQ(world.sql("SELECT reserved BETWEEN 290 AND 311 FROM budget"), "t");
}

// No notification of them has arrived.
TEST(SandboxBudgets, PricesThatAnotherGatewayPublishedAreSetAsideFor) {
  test::World world;
  PayingReplica replica(world);
  replica.put(world.tenant, "20", OnExceeded::kill);
  PriceVersion rise = price_version_from(parse_json(kPrices), "list");
  rise.entries[0].terms.unit_price = Decimal(1);
  rise.effective_from = SystemClock().now() + 1s;
  run(world.replica.prices.publish(rise));
  EXPECT_NE(refusal(replica, world), "");
  EXPECT_EQ(world.sql("SELECT trim_scale(reserved) FROM budget"), "0");
}

TEST(SandboxBudgets, WhatTheVendorGivesIsSetAsideFor) {
  test::World world;
  PayingReplica replica(world);
  for (const auto& backend : {world.a, world.b}) backend->give({4000, 512, 2, 512});
  replica.put(world.tenant, R"({"amount":"1","currency":"USD","window":"total"})");
  EXPECT_NE(refusal(replica, world), "") << "four times the 0.6 of one processor";
  replica.put(world.tenant, R"({"amount":"3","currency":"USD","window":"total"})");
  EXPECT_EQ(run(replica.lifecycle.create(small_order(world))).charge_per_hour, "14.4");
  EXPECT_EQ(world.sql("SELECT reserved BETWEEN 2.3 AND 2.5 FROM budget"), "t");
}

TEST(SandboxBudgets, WhatIsSetAsideIsWhatTheDecisionExpects) {
  test::World world;
  PayingReplica replica(world);
  run(replica.prices.publish(price_version_from(
      parse_json(R"({"kind":"charge","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
        "entries":[{"provider":"*","meter":"vcpu_second","unit_price":"0.001","minimum":"1000",
            "rounding":"60"},
          {"provider":"*","meter":"sandbox_created","unit_price":"0.07"}]})"),
      "minimum")));
  const Decision decision = replica.lifecycle.explain(small_order(world));
  EXPECT_EQ(to_json(decision)["candidates"][0]["expected_price"], "1.09");
  EXPECT_EQ(to_json(decision)["candidates"][0]["currency"], "USD");
  replica.put(world.tenant, R"({"amount":"1.08","currency":"USD","window":"total"})");
  EXPECT_NE(refusal(replica, world), "");
  replica.put(world.tenant, R"({"amount":"2.18","currency":"USD","window":"total"})");
  EXPECT_EQ(refusal(replica, world), "");
  EXPECT_EQ(refusal(replica, world), "") << "there is money for two of them";
  EXPECT_EQ(world.sql("SELECT trim_scale(reserved) FROM budget"), "2.18");
  EXPECT_NE(refusal(replica, world), "");
}

TEST(SandboxBudgets, TheMostAnHourMayCostIsOfWhatTheTenantIsCharged) {
  test::World world;
  PayingReplica replica(world);
  run(replica.prices.publish(price_version_from(
      parse_json(R"({"kind":"charge","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
        "markup_percent":"50"})"),
      "markup")));
  const auto order = [&](const char* most) {
    CreateOrder capped = small_order(world);
    capped.request.profile.placement.max_cost_per_hour = most;
    return capped;
  };
  const Decision dear = replica.lifecycle.explain(order("5.39"));
  EXPECT_EQ(dear.eligible(), 0u);
  EXPECT_EQ(to_json(dear)["candidates"][0]["price_per_hour"], "5.4");
  EXPECT_EQ(to_json(dear)["candidates"][0]["rejected_because"], Json::array({"price_above_limit"}));
  EXPECT_EQ(replica.lifecycle.explain(order("5.4")).eligible(), 2u);
}

TEST(SandboxBudgets, AnExtendThatCannotBePaidChangesNothing) {
  test::World world;
  PayingReplica replica(world);
  replica.put(world.tenant, R"({"amount":"1","currency":"USD","window":"total"})");
  const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
  try {
    run(Extending(replica.lifecycle).extend(world.tenant, box.id, 3600));
    FAIL() << "extended beyond the budget";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::budget_exceeded);
  }
  EXPECT_EQ(world.row(box.id).expires_at, box.expires_at);
  EXPECT_EQ(run(Extending(replica.lifecycle).extend(world.tenant, box.id, 900)).ttl_seconds, 900);
}

TEST(SandboxBudgets, WhatWaitsPausedIsReservedForHoweverItIsExtended) {
  test::World world;
  PayingReplica replica(world);
  replica.put(world.tenant, R"({"amount":"1","currency":"USD","window":"total"})");
  auto order = small_order(world);
  order.request.profile.on_expiry = EndAction::pause;
  const SandboxRecord box = run(replica.lifecycle.create(order));
  Pausing pausing(replica.lifecycle);
  run(pausing.pause(world.tenant, box.id, Keeps::disk));
  const auto reserved = [&] {
    return world.sql("SELECT (held, ends_at > now() + interval '300 days') FROM reservation");
  };
  const std::string before = reserved();
  EXPECT_TRUE(before.ends_with(",t)")) << before;
  EXPECT_EQ(run(Extending(replica.lifecycle).extend(world.tenant, box.id, 7200)).ttl_seconds, 7200);
  EXPECT_EQ(reserved(), before);
}

TEST(SandboxBudgets, WhatIsToWaitPausedIsReservedForAndForItsTimeOnceResumed) {
  test::World world;
  PayingReplica replica(world);
  replica.put(world.tenant, R"({"amount":"100","currency":"USD","window":"total"})");
  const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
  const auto held = [&] { return world.sql("SELECT held FROM reservation"); };
  const auto lasts = [&](const std::string& time) {
    return world.sql("SELECT abs(extract(epoch FROM ends_at - now() - interval '" + time +
                     "')) < 5 FROM reservation");
  };
  const std::string at_first = held();
  Pausing pausing(replica.lifecycle);
  run(pausing.pause(world.tenant, box.id, Keeps::disk, /*waits=*/true));
  EXPECT_EQ(lasts("365 days"), "t");
  EXPECT_NE(held(), at_first);
  const SandboxRecord resumed = run(pausing.resume(world.tenant, box.id));
  EXPECT_EQ(lasts(std::to_string(resumed.ttl_seconds) + " seconds"), "t");
  run(replica.lifecycle.kill(world.tenant, box.id));
  EXPECT_EQ(world.sql("SELECT count(*) FROM reservation"), "0");
}

// Before the budget is answered: what begins next may not spend what runs will need.
TEST(SandboxBudgets, AFirstBudgetSetsAsideForWhatRuns) {
  test::World world;
  PayingReplica replica(world);
  const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
  const Budget set =
      run(replica.rows.put(budget_from(parse_json(R"({"amount":"0.5","currency":"USD",
        "window":"total","on_exceeded":"deny"})"),
                                       world.tenant, "main")));
  EXPECT_GT(set.reserved, Decimal());
  EXPECT_EQ(world.sql("SELECT trim_scale(held)::text FROM reservation"), set.reserved.to_string());
  EXPECT_EQ(world.sql("SELECT r.ends_at = s.expires_at FROM reservation r JOIN sandbox s ON"
                      " s.id = r.sandbox"),
            "t");
  EXPECT_NE(refusal(replica, world), "");
  run(replica.lifecycle.kill(world.tenant, box.id));
  EXPECT_EQ(world.sql("SELECT reserved = 0 FROM budget"), "t");
}

TEST(SandboxBudgets, ALoweredBudgetEndsWhatRunsAtOnce) {
  test::World world;
  PayingReplica replica(world);
  replica.put(world.tenant, "9", OnExceeded::kill);
  const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
  BudgetEnforcer enforcer(replica.budgets, replica.lifecycle);
  EXPECT_EQ(enforce(enforcer), 0u);
  replica.put(world.tenant, "0", OnExceeded::kill);
  EXPECT_EQ(enforce(enforcer), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
  EXPECT_EQ(world.a->alive(), 0u);
}

TEST(SandboxBudgets, PausesWhereTheBackendCanAndEndsWhereItCannot) {
  test::World world;
  PayingReplica replica(world);
  replica.put(world.tenant, "9", OnExceeded::pause);
  const SandboxRecord one = run(replica.lifecycle.create(small_order(world)));
  const SandboxRecord two = run(replica.lifecycle.create(small_order(world)));
  replica.put(world.tenant, "0", OnExceeded::pause);
  std::vector<std::string> asked;
  BudgetEnforcer enforcer(replica.budgets, replica.lifecycle,
                          [&](TenantId, SandboxId id) -> Task<void> {
                            asked.push_back(id.value);
                            if (id == two.id) throw Error(ErrorCode::unsupported, "it cannot");
                            co_return;
                          });
  enforce(enforcer);
  EXPECT_EQ(asked.size(), 2u);
  EXPECT_EQ(world.row(one.id).state, SandboxState::running) << "left to the pause";
  EXPECT_EQ(world.row(two.id).state, SandboxState::stopped);
}

TEST(SandboxBudgets, APausedOneIsEndedWithTheMoneyForWhatItKeeps) {
  for (const bool is_charged : {true, false}) {
    test::World world;
    PayingReplica replica(world);
    if (is_charged)
      replica.set_prices("disks", R"({"kind":"cost","currency":"USD",
        "effective_from":"2026-01-01T00:00:00Z",
        "entries":[{"provider":"*","meter":"disk_gib_second","unit_price":"0.001"}]})");
    replica.put(world.tenant, "99", OnExceeded::pause);
    const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
    Pausing pausing(replica.lifecycle);
    run(pausing.pause(world.tenant, box.id, Keeps::disk));
    BudgetEnforcer enforcer(replica.budgets, replica.lifecycle,
                            [&](TenantId tenant, SandboxId id) -> Task<void> {
                              co_await pausing.pause(std::move(tenant), std::move(id), Keeps::disk);
                            });
    EXPECT_EQ(enforce(enforcer), 0u);
    replica.put(world.tenant, "0", OnExceeded::pause);
    EXPECT_EQ(enforce(enforcer), is_charged ? 1u : 0u);
    EXPECT_EQ(world.row(box.id).state, is_charged ? SandboxState::stopped : SandboxState::paused);
  }
}

TEST(SandboxBudgets, AsksABackendThatHasNotSaidYetWhetherItCanPause) {
  test::World world;
  PayingReplica replica(world);
  replica.put(world.tenant, "9", OnExceeded::pause);
  const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
  replica.put(world.tenant, "0.08", OnExceeded::pause);  // 80 seconds
  Descriptor unread;
  unread.provider = "a";
  unread.known = false;
  world.a->offer(unread);
  run(replica.deployments.reload());
  BudgetEnforcer enforcer(replica.budgets, replica.lifecycle,
                          [](TenantId, SandboxId) -> Task<void> {
                            throw Error(ErrorCode::unavailable, "it was not reached yet");
                            co_return;
                          });
  EXPECT_EQ(enforce(enforcer), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
}

TEST(SandboxBudgets, DeploymentsThatTheyCannotPayAreLeftOut) {
  test::World world;
  PayingReplica replica(world);
  replica.set_prices("dear", R"({"kind":"cost","currency":"USD",
    "effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"*","deployment":"a","meter":"vcpu_second","unit_price":"0.1"}]})");
  replica.put(world.tenant, "1", OnExceeded::kill);
  EXPECT_EQ(run(replica.lifecycle.create(small_order(world))).deployment, "b");
  EXPECT_EQ(world.a->creates(), 0);
  EXPECT_EQ(world.sql("SELECT document->'candidates'->1->>'rejected_because' FROM decision"),
            R"(["budget"])");
  EXPECT_EQ(test::code_of([&] { run(replica.lifecycle.create(small_order(world))); }),
            ErrorCode::budget_exceeded)
      << "0.4 are left";
}

// A second of a price is split by microseconds, so that what is left has many digits.
TEST(SandboxBudgets, HowManyDigitsAreLeftIsNoReasonToRefuse) {
  test::World world;
  PayingReplica replica(world, R"({"kind":"cost","currency":"USD",
    "effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"*","meter":"vcpu_second","unit_price":"0.001000000000000001"},
      {"provider":"*","deployment":"a","meter":"vcpu_second","unit_price":"0.1"}]})");
  replica.put(world.tenant, "2", OnExceeded::kill);
  const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
  EXPECT_EQ(box.deployment, "b");
  run(sleep_for(10ms));
  run(replica.lifecycle.kill(world.tenant, box.id));
  EXPECT_EQ(world.sql("SELECT scale(trim_scale(amount - spent)) > 18 FROM budget"), "t");
  EXPECT_EQ(run(replica.lifecycle.create(small_order(world))).deployment, "b");
}

TEST(SandboxBudgets, ABackendThatHangsKeepsNobodysMoneyWaiting) {
  test::World world;
  PayingReplica replica(world);
  replica.put(world.tenant, "9", OnExceeded::kill);
  const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
  replica.put(world.tenant, "0", OnExceeded::kill);
  world.a->hang_kills(true);
  BudgetEnforcer enforcer(replica.budgets, replica.lifecycle);
  EXPECT_EQ(run(enforcer.begin()), 1u);
  EXPECT_TRUE(test::eventually([&] { return world.a->kills() > 0; }));
  EXPECT_EQ(run(enforcer.begin()), 0u) << "its charge has ended";
  world.a->hang_kills(false);
  enforce(enforcer);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
}

TEST(SandboxBudgets, ARefusalToPauseEndsASandboxAndSoDoesTheEndOfTheMoney) {
  test::World world;
  PayingReplica replica(world);
  replica.put(world.tenant, "9", OnExceeded::pause);
  const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
  replica.put(world.tenant, "0.08", OnExceeded::pause);  // 80 seconds
  ErrorCode code;
  BudgetEnforcer enforcer(replica.budgets, replica.lifecycle,
                          [&](TenantId, SandboxId) -> Task<void> {
                            throw Error(code, "not now");
                            co_return;
                          });
  for (const ErrorCode transient :
       {ErrorCode::timeout, ErrorCode::unavailable, ErrorCode::rate_limited, ErrorCode::no_capacity,
        ErrorCode::quota_exceeded, ErrorCode::conflict}) {
    code = transient;
    EXPECT_EQ(enforce(enforcer), 1u) << "it is asked again";
    EXPECT_EQ(world.row(box.id).state, SandboxState::running);
  }
  code = ErrorCode::unsupported;
  enforce(enforcer);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped) << "it never can";
  for (const ErrorCode transient : {ErrorCode::unavailable, ErrorCode::conflict}) {
    replica.put(world.tenant, "9", OnExceeded::pause);
    const SandboxRecord other = run(replica.lifecycle.create(small_order(world)));
    replica.put(world.tenant, "0", OnExceeded::pause);
    code = transient;
    enforce(enforcer);
    EXPECT_EQ(world.row(other.id).state, SandboxState::stopped) << "there is nothing left";
  }
}

}  // namespace
}  // namespace sandgate
