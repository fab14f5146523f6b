#include <gtest/gtest.h>

#include "gateway/sandboxes/pausing.hpp"
#include "gateway/sandboxes/rows/pause_rows.hpp"
#include "gateway/sandboxes/upkeep/budget_enforcer.hpp"
#include "tests/sandboxes/paying_replica.hpp"

namespace sandgate::test {
namespace {

// Another gateway, or the reaper, is at the pause.
TEST(SandboxBudgets, APauseUnderWayMayLastBeyondTheMoneyAndNotForEver) {
  World world;
  PayingReplica replica(world);
  replica.put(world.tenant, "9", OnExceeded::pause);
  const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
  auto begin = [&](pqxx::work& tx) {
    return sandbox_rows::set_pausing(tx, box.id, Keeps::memory, std::chrono::seconds(30));
  };
  run(replica.lifecycle.parts().database.run(begin));
  replica.lifecycle.parts().cache.invalidate(box.id);
  BudgetEnforcer enforcer(replica.budgets, replica.lifecycle,
                          [](TenantId, SandboxId) -> Task<void> { co_return; });
  enforce(enforcer);
  EXPECT_EQ(world.row(box.id).state, SandboxState::pausing) << "there is money";
  replica.put(world.tenant, "0", OnExceeded::pause);
  enforce(enforcer);
  EXPECT_EQ(world.row(box.id).state, SandboxState::pausing) << "it was not tried often";
  world.sql("UPDATE sandbox SET stop_attempts = 12 RETURNING id");
  enforce(enforcer);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
}

TEST(SandboxBudgets, APauseThatWasBegunAndNotAnsweredIsNoEnd) {
  World world;
  PayingReplica replica(world);
  replica.put(world.tenant, "9", OnExceeded::pause);
  const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
  replica.put(world.tenant, "0", OnExceeded::pause);
  world.a->fail_states(FakeProvider::Fault::error, ErrorCode::timeout);
  Pausing pausing(replica.lifecycle);
  BudgetEnforcer enforcer(replica.budgets, replica.lifecycle,
                          [&](TenantId tenant, SandboxId id) -> Task<void> {
                            co_await pausing.pause(tenant, id, Keeps::disk);
                          });
  enforce(enforcer);
  EXPECT_EQ(world.row(box.id).state, SandboxState::pausing);
  EXPECT_EQ(world.a->alive(), 1u);
}

TEST(SandboxBudgets, WhatRunsOnAnotherGatewaysMachineIsLeftToItToPause) {
  World world("m1");
  PayingReplica replica(world, kPrices, "m1");
  replica.put(world.tenant, "9", OnExceeded::pause);
  const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
  world.sql("UPDATE sandbox SET backend_id = id || '@m2' RETURNING id");
  replica.lifecycle.parts().cache.invalidate(box.id);
  replica.put(world.tenant, "0", OnExceeded::pause);
  Pausing pausing(replica.lifecycle);
  BudgetEnforcer enforcer(replica.budgets, replica.lifecycle,
                          [&](TenantId tenant, SandboxId id) -> Task<void> {
                            co_await pausing.pause(tenant, id, Keeps::disk);
                          });
  EXPECT_EQ(enforce(enforcer), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
}

// More than are ended at a time, on a backend that takes long for each.
TEST(SandboxBudgets, HoweverManyEndWithTheirBudgetNoneIsChargedForTheWait) {
  World world;
  PayingReplica replica(world);
  constexpr int kMany = 20;
  replica.put(world.tenant, "99", OnExceeded::kill);
  for (int i = 0; i < kMany; ++i) run(replica.lifecycle.create(small_order(world)));
  replica.put(world.tenant, "0", OnExceeded::kill);
  world.a->hang_kills(true);
  BudgetEnforcer enforcer(replica.budgets, replica.lifecycle);
  EXPECT_EQ(run(enforcer.begin()), static_cast<size_t>(kMany));
  EXPECT_EQ(world.sql("SELECT count(*) FROM metered_sandbox WHERE state <> 'closed'"), "0");
  EXPECT_EQ(world.sql("SELECT count(*) FROM reservation"), "0");
  world.a->hang_kills(false);
  enforce(enforcer);
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox WHERE state = 'stopped'"),
            std::to_string(kMany));
}

}  // namespace
}  // namespace sandgate::test
