#include <gtest/gtest.h>

#include "gateway/sandboxes/snapshots.hpp"
#include "tests/sandboxes/world.hpp"

// What becomes of snapshots on our own machine whose makers died, or heard of no answer.
namespace sandgate::test {
namespace {

using std::chrono::seconds;

struct CutOffWorld : testing::Test {
  SnapshotRecord take(const SandboxRecord& box) {
    return run(snapshots.take(world.tenant, box.id, "", Keeps::disk));
  }
  // As it is until its maker hears that it is made.
  void cut_off(const SnapshotRecord& one, const std::string& state, bool for_fork) {
    world.sql("UPDATE snapshot SET state = '" + state +
              "', for_fork = " + (for_fork ? "true" : "false") +
              ", backend_id = id || '@m1', lease_until = now() + interval '6 minutes'"
              " WHERE id = '" +
              one.id.value + "' RETURNING id");
  }
  WholeSteps reaper(seconds ahead = {}, const std::string& machine = "m1") {
    return WholeSteps(world.replica.lifecycle, {.ahead = ahead, .machine = machine});
  }
  std::string states() {
    return world.sql("SELECT string_agg(state, ' ' ORDER BY state) FROM snapshot");
  }

  World world{"m1"};
  Snapshots snapshots{world.replica.lifecycle};
};

TEST_F(CutOffWorld, WhatAnEarlierProcessMadeOccupiesNothing) {
  const SandboxRecord box = world.create();
  const SnapshotRecord unmade = take(box), of_a_fork = take(box), kept = take(box);
  cut_off(unmade, "creating", false);
  cut_off(of_a_fork, "ready", true);
  WholeSteps later = reaper();
  EXPECT_EQ(run(later.recover_snapshots()), 2u);
  EXPECT_EQ(run(later.clean_snapshots()), 0u);
  EXPECT_EQ(world.a->snapshots(), 1u);
  EXPECT_EQ(states(), "ready removing removing") << "a late request may still make them";
  EXPECT_EQ(run(reaper(seconds(1000)).clean_snapshots()), 2u);
  EXPECT_EQ(states(), "ready");
  EXPECT_EQ(run(snapshots.find(world.tenant, kept.id)).id, kept.id);
}

TEST_F(CutOffWorld, WhatThisProcessMakesGoesOn) {
  WholeSteps started_before = reaper();
  cut_off(take(world.create()), "creating", false);
  EXPECT_EQ(run(started_before.recover_snapshots()), 0u);
  run(started_before.clean_snapshots());
  EXPECT_EQ(world.a->snapshots(), 1u);
  EXPECT_EQ(states(), "creating");
}

TEST_F(CutOffWorld, WhatOthersMakeOnTheirMachinesGoesOn) {
  cut_off(take(world.create()), "creating", false);
  EXPECT_EQ(run(reaper({}, "m2").recover_snapshots()), 0u);
  EXPECT_EQ(run(reaper({}, "").recover_snapshots()), 0u);
  EXPECT_EQ(states(), "creating");
}

TEST_F(CutOffWorld, WhatIsMadeAfterItWasGivenUpIsRemovedWhenItComes) {
  world.a->fail_states(FakeProvider::Fault::lost_reply);
  const SandboxRecord box = world.create();
  EXPECT_EQ(code_of([&] { take(box); }), ErrorCode::unavailable);
  EXPECT_EQ(world.a->snapshots(), 1u);
  EXPECT_EQ(run(reaper().clean_snapshots()), 0u);
  EXPECT_EQ(world.a->snapshots(), 0u);
  EXPECT_EQ(states(), "removing");
}

}  // namespace
}  // namespace sandgate::test
