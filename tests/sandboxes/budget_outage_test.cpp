#include <gtest/gtest.h>

#include "gateway/sandboxes/pausing.hpp"
#include "gateway/sandboxes/upkeep/budget_enforcer.hpp"
#include "tests/sandboxes/paying_replica.hpp"
#include "tests/support/eventually.hpp"

// Hard budgets while the database is away.
namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

struct BudgetOutage : OwnCluster, testing::Test {
  Lifecycle::Parts parts() {
    Lifecycle::Parts parts = replica.parts(replica.guard);
    parts.outage = &outage;
    return parts;
  }
  // For two hours, of which one is set aside.
  SandboxRecord create(const TenantId& tenant) {
    CreateOrder order = small_order(world);
    order.tenant = tenant;
    order.request.profile.ttl_seconds = 7200;
    return run(lifecycle.create(std::move(order)));
  }
  TenantId another_tenant() {
    const TenantId id = TenantId::make();
    world.sql("INSERT INTO tenant (id, name) VALUES ('" + id.value + "', 'other') RETURNING id");
    return id;
  }

  World world;
  PayingReplica replica{world};
  TempDirectory directory;
  OutageJournal outage{{.path = directory.path() + "/outage.journal"}};
  Lifecycle lifecycle{parts()};
};

TEST_F(BudgetOutage, WhatIsSetAsideIsAllThatAHardBudgetPaysFor) {
  const TenantId patient = another_tenant();
  replica.put(world.tenant, "10", OnExceeded::kill);
  replica.put(patient, "3.6", OnExceeded::pause);
  const SandboxRecord hard = create(world.tenant), soft = create(patient);
  BudgetEnforcer enforcer(replica.budgets, lifecycle);
  EXPECT_EQ(enforce(enforcer), 0u);
  replica.clock.ahead = 3580s;
  EXPECT_EQ(enforce(enforcer), 0u) << "the database says what is so";
  EXPECT_EQ(world.a->alive(), 2u);
  TestDatabase::stop_cluster();
  replica.clock.ahead = 3500s;
  EXPECT_EQ(enforce(enforcer), 0u);
  EXPECT_EQ(world.a->alive(), 2u);
  replica.clock.ahead = 3580s;
  EXPECT_EQ(enforce(enforcer), 1u);
  EXPECT_EQ(world.a->alive(), 1u);
  EXPECT_TRUE(outage.has(world.tenant, hard.id));
  enforce(enforcer);
  EXPECT_EQ(outage.records(), 2u) << "that it was asked for, and that it came";
  replica.clock.ahead = 0s;
  TestDatabase::start_cluster();
  EXPECT_TRUE(eventually([&] {
    run(attempt(outage.replay(lifecycle)));
    return !outage.is_pending();
  }));
  EXPECT_EQ(world.row(hard.id).state, SandboxState::stopped);
  EXPECT_EQ(world.row(soft.id).state, SandboxState::running);
  EXPECT_EQ(world.sql("SELECT string_agg(sandbox, ' ') FROM reservation"), soft.id.value);
}

TEST_F(BudgetOutage, WhatIsPausedIsKeptWhileItsBudgetHadMoney) {
  replica.set_prices("disks", R"({"kind":"cost","currency":"USD",
    "effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"*","meter":"disk_gib_second","unit_price":"0.001"}]})");
  Pausing pausing(lifecycle);
  BudgetEnforcer enforcer(replica.budgets, lifecycle);
  const auto pause_one = [&](const TenantId& tenant) {
    replica.put(tenant, "1000", OnExceeded::kill);
    const SandboxRecord box = create(tenant);
    run(pausing.pause(tenant, box.id, Keeps::disk));
    return box;
  };
  const TenantId poor = another_tenant();
  const SandboxRecord kept = pause_one(world.tenant), ended = pause_one(poor);
  // All that this one has is set aside.
  world.sql("UPDATE budget SET amount = reserved WHERE tenant = '" + poor.value + "' RETURNING 1");
  EXPECT_EQ(enforce(enforcer), 0u);
  TestDatabase::stop_cluster();
  replica.clock.ahead = 3580s;
  EXPECT_EQ(enforce(enforcer), 1u);
  EXPECT_TRUE(outage.has(poor, ended.id));
  EXPECT_FALSE(outage.has(kept.id));
  TestDatabase::start_cluster();
}

TEST_F(BudgetOutage, OneThatOnlyABudgetThatDeniesCannotPayFinishes) {
  replica.put(world.tenant, "100", OnExceeded::kill);
  replica.put(world.tenant, R"({"amount":"3.6","currency":"USD","window":"total"})", "denies");
  create(world.tenant);
  world.sql("UPDATE reservation SET covered_until = now() + interval '10 s' RETURNING 1");
  BudgetEnforcer enforcer(replica.budgets, lifecycle);
  EXPECT_EQ(enforce(enforcer), 0u);
  TestDatabase::stop_cluster();
  EXPECT_EQ(enforce(enforcer), 0u);
  EXPECT_EQ(world.a->alive(), 1u);
  TestDatabase::start_cluster();
}

}  // namespace
}  // namespace sandgate::test
