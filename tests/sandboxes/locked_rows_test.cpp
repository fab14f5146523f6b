#include <gtest/gtest.h>

#include "tests/sandboxes/held_lock.hpp"

// What somebody has locked holds up nothing else.
namespace sandgate::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Reaper, WhatIsLockedKeepsNothingElseFromEnding) {
  World world;
  Replica replica(world.database.url(), world.fixed(), kHasty);
  const SandboxRecord locked = world.create(), later = world.create();
  world.sql("UPDATE sandbox SET expires_at = now() - interval '1 hour' WHERE id = '" +
            locked.id.value + "' RETURNING id");
  const HeldLock lock(
      world, "SELECT FROM metered_sandbox WHERE sandbox = '" + locked.id.value + "' FOR UPDATE");
  EXPECT_EQ(run(replica.reaper(seconds(601)).expire()), 1u);
  EXPECT_EQ(world.row(locked.id).state, SandboxState::running);
  EXPECT_EQ(world.row(later.id).state, SandboxState::stopped);
}

TEST(Reaper, ALockedTenantFillsNoBatch) {
  World world;
  Replica replica(world.database.url(), world.fixed(), kHasty);
  for (int i = 0; i < 4; ++i) world.create();
  world.sql("UPDATE sandbox SET expires_at = now() - interval '1 hour' RETURNING id");
  const TenantId second = TenantId::make();
  world.sql("INSERT INTO tenant (id, name) VALUES ('" + second.value + "', 'two') RETURNING id");
  auto order = world.order();
  order.tenant = second;
  const SandboxRecord later = run(replica.lifecycle.create(order));
  const HeldLock lock(
      world, "SELECT FROM metered_sandbox WHERE tenant = '" + world.tenant.value + "' FOR UPDATE");
  Reaper reaper(replica.lifecycle, {.ahead = seconds(601), .batch = 4});
  EXPECT_EQ(run(reaper.expire()), 1u);
  run(reaper.drain());
  EXPECT_EQ(world.row(later.id).state, SandboxState::stopped);
}

TEST(Reconciler, ADeathThatCannotBeWrittenIsOwedByItsSandboxAlone) {
  World world("m1");
  Replica replica(world.database.url(), world.fixed("m1"), kHasty);
  const SandboxRecord locked = world.create(), dead = world.create();
  Reconciler reconciler(replica.lifecycle, {});
  for (const SandboxRecord& box : {locked, dead}) world.a->die(box.backend_id, milliseconds(0));
  {
    const HeldLock lock(world,
                        "SELECT FROM sandbox WHERE id = '" + locked.id.value + "' FOR UPDATE");
    run(reconciler.note_deaths());
    EXPECT_TRUE(reconciler.has_unrecorded_death(locked.id));
    EXPECT_FALSE(reconciler.has_unrecorded_death(dead.id));
    EXPECT_EQ(world.row(dead.id).state, SandboxState::failed);
  }
  run(reconciler.note_deaths());
  EXPECT_FALSE(reconciler.has_unrecorded_death(locked.id));
  EXPECT_EQ(world.row(locked.id).state, SandboxState::failed);
}

TEST(Reconciler, ALossThatCannotBeWrittenHoldsUpNoOther) {
  World world;
  Replica replica(world.database.url(), world.fixed(), kHasty);
  const SandboxRecord locked = world.create(), lost = world.create();
  Reconciler reconciler(replica.lifecycle, {});
  for (const SandboxRecord& box : {locked, lost}) world.a->lose(box.backend_id);
  const HeldLock lock(world, "SELECT FROM sandbox WHERE id = '" + locked.id.value + "' FOR UPDATE");
  const auto deployment = replica.deployments.find(world.tenant, "a");
  const auto result = run(reconciler.reconcile(deployment));
  EXPECT_EQ(result.value_or(Reconciler::Result{}).lost, 1u);
  EXPECT_EQ(world.row(lost.id).state, SandboxState::failed);
  EXPECT_EQ(world.row(locked.id).state, SandboxState::running);
}

}  // namespace
}  // namespace sandgate::test
