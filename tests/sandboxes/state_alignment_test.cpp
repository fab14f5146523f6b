#include "gateway/sandboxes/upkeep/state_alignment.hpp"

#include <gtest/gtest.h>

#include "gateway/sandboxes/pausing.hpp"
#include "tests/sandboxes/world.hpp"

namespace sandgate::test {
namespace {

struct NoMoney : NoSpendGuard {
  void resume(pqxx::work&, const SandboxRecord&, const PlannedCharge&) override {
    throw Error(ErrorCode::budget_exceeded, "no money is left");
  }
};

// What a failover leaves that lost the last commits: the machine is ahead of the rows.
struct AlignmentWorld : testing::Test {
  size_t align(const SandboxRecord& known) { return align_with(world.replica.lifecycle, known); }
  size_t align_with(Lifecycle& lifecycle, const SandboxRecord& known) {
    const auto listed = run(world.a->list());
    return run(align_states(lifecycle, world.replica.deployments.find(world.tenant, "a"), {known},
                            listed));
  }
  SandboxRecord paused() {
    const SandboxRecord box = world.create();
    return run(Pausing(world.replica.lifecycle).pause(world.tenant, box.id, Keeps::memory));
  }
  std::string metered() { return world.sql("SELECT state FROM metered_sandbox"); }

  World world{"m1"};
};

TEST_F(AlignmentWorld, WhatIsPausedOnTheMachineIsPaused) {
  const SandboxRecord box = world.create();
  EXPECT_EQ(align(box), 0u);
  run(world.a->pause(box.backend_id, Keeps::memory));
  EXPECT_EQ(align(box), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::paused);
  EXPECT_EQ(metered(), "paused_disk");
  EXPECT_EQ(align(world.row(box.id)), 0u);
}

TEST_F(AlignmentWorld, WhatRunsOnTheMachineIsChargedAsRunning) {
  const SandboxRecord box = paused();
  EXPECT_EQ(align(box), 0u);
  run(world.a->resume(box.backend_id));
  EXPECT_EQ(align(box), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
  EXPECT_EQ(metered(), "running");
}

TEST_F(AlignmentWorld, WhatNobodyPaysForIsPausedOnTheMachine) {
  const SandboxRecord box = paused();
  run(world.a->resume(box.backend_id));
  NoMoney guard;
  Lifecycle poor(world.replica.parts(guard));
  EXPECT_EQ(align_with(poor, box), 1u);
  EXPECT_EQ(world.a->state_of(box.backend_id), BackendState::paused);
  EXPECT_EQ(world.row(box.id).state, SandboxState::paused);
}

TEST_F(AlignmentWorld, ChangesUnderWayAreLeftAlone) {
  const SandboxRecord box = world.create();
  run(world.a->pause(box.backend_id, Keeps::memory));
  world.sql("UPDATE sandbox SET state = 'pausing' RETURNING id");
  EXPECT_EQ(align(box), 0u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::pausing);
}

// A vendor's sandbox, which somebody paused in the vendor's console.
struct RefreshWorld : testing::Test {
  SandboxState refreshed(const SandboxRecord& box) {
    return run(refresh_state(world.replica.lifecycle, world.tenant, box.id))->record.state;
  }

  World world;
};

TEST_F(RefreshWorld, WhatIsPausedAtItsVendorIsPaused) {
  const SandboxRecord box = world.create();
  EXPECT_EQ(refreshed(box), SandboxState::running);
  run(world.a->pause(box.backend_id, Keeps::memory));
  EXPECT_EQ(refreshed(box), SandboxState::paused);
  EXPECT_EQ(world.row(box.id).state, SandboxState::paused);
  EXPECT_EQ(world.sql("SELECT state FROM metered_sandbox"), "paused_disk");
  run(Pausing(world.replica.lifecycle).resume(world.tenant, box.id));
  EXPECT_EQ(world.a->state_of(box.backend_id), BackendState::running);
  EXPECT_EQ(refreshed(box), SandboxState::running);
}

TEST_F(RefreshWorld, WhatIsPausedForACopyOfItsDiskIsLeftAlone) {
  const SandboxRecord box = world.create();
  run(world.a->pause(box.backend_id, Keeps::memory));
  const std::string snapshot = SnapshotId::make().value;
  world.sql(
      "INSERT INTO snapshot (id, tenant, state, for_fork, sandbox, deployment, kept, disk_gib,"
      " lease_until) SELECT '" +
      snapshot +
      "', tenant, 'creating', false, id, 'a', 'disk', 1, now() FROM sandbox RETURNING id");
  EXPECT_EQ(refreshed(box), SandboxState::running);
  world.sql("DELETE FROM snapshot RETURNING id");
  EXPECT_EQ(refreshed(box), SandboxState::paused);
}

TEST_F(RefreshWorld, WhatAVendorSaysRunsStaysPaused) {
  const SandboxRecord box = world.create();
  run(Pausing(world.replica.lifecycle).pause(world.tenant, box.id, Keeps::memory));
  run(world.a->resume(box.backend_id));
  EXPECT_EQ(refreshed(box), SandboxState::paused);
}

TEST_F(RefreshWorld, WhatIsGoneAtItsVendorIsLost) {
  const SandboxRecord box = world.create();
  world.a->lose(box.backend_id);
  EXPECT_EQ(refreshed(box), SandboxState::failed);
}

}  // namespace
}  // namespace sandgate::test
