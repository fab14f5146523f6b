#include "gateway/sandboxes/upkeep/machine_monitor.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/sandboxes/held_lock.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::run;
using test::World;

// A sandbox that began 300 s ago on a machine that gave its last sign of life 100 s ago.
struct MachineWorld : World {
  explicit MachineWorld(MachineMonitor::Options options = {.own = "here", .silence = 0ms})
      : machines(replica.lifecycle, std::move(options)) {}
  SandboxId begin() {
    const SandboxId id = create().id;
    const std::string its = " = '" + id.value + "' RETURNING 1";
    sql("UPDATE metered_sandbox SET opened_at = opened_at - interval '300 seconds',"
        " boundary = boundary - interval '300 seconds', observed_at = observed_at - interval"
        " '300 seconds' WHERE sandbox" +
        its);
    sql("UPDATE sandbox SET backend_id = id || '@there' WHERE id" + its);
    see("100");
    return id;
  }
  void see(const std::string& seconds_ago) {
    sql("INSERT INTO machine (name, seen_at) VALUES ('there', now() - interval '" + seconds_ago +
        " seconds') ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at RETURNING 1");
  }
  std::string known() { return sql("SELECT string_agg(name, ' ' ORDER BY name) FROM machine"); }
  int charged_seconds() {
    return std::stoi("0" + sql("SELECT trunc(extract(epoch FROM max(interval_end) -"
                               " min(interval_start))) FROM usage_event"
                               " WHERE meter = 'vcpu_second'"));
  }

  MachineMonitor machines;
};

TEST(MachineMonitor, SandboxesOfOneThatIsSilentAreLostSinceItWasLastSeen) {
  MachineWorld world;
  const SandboxId id = world.begin();
  EXPECT_EQ(run(world.machines.step()), 1u);
  const SandboxRecord lost = world.row(id);
  EXPECT_EQ(lost.state, SandboxState::failed);
  EXPECT_EQ(lost.failure.value().code, "backend_lost");
  EXPECT_TRUE(world.charged_to_its_end(id));
  EXPECT_NEAR(world.charged_seconds(), 200, 10);
  EXPECT_EQ(world.known(), "here") << "nothing is left to do there";
  EXPECT_EQ(run(world.machines.step()), 0u);
}

TEST(MachineMonitor, OfTwoUnderOneNameTheSecondWaits) {
  MachineWorld world({.own = "here", .place = "first"});
  MachineMonitor copy(world.replica.lifecycle, {.own = "here", .place = "second"});
  EXPECT_TRUE(run(world.machines.claim()));
  EXPECT_TRUE(run(world.machines.claim())) << "it starts again";
  EXPECT_FALSE(run(copy.claim()));
  const auto seen = [&](const std::string& seconds_ago, const std::string& place) {
    world.sql("UPDATE machine SET seen_at = now() - interval '" + seconds_ago +
              " seconds', place = " + place + " WHERE name = 'here' RETURNING 1");
  };
  seen("40", "'first'");
  EXPECT_FALSE(run(copy.claim())) << "it may just have been late";
  run(world.machines.step());
  seen("50", "'first'");
  EXPECT_TRUE(run(copy.claim())) << "nobody gives signs any more";
  EXPECT_FALSE(run(world.machines.claim()));
  seen("1", "NULL");
  EXPECT_TRUE(run(copy.claim())) << "the release before does not say where it is";
}

TEST(MachineMonitor, AnEndThatWasAskedForIsNoLoss) {
  MachineWorld world;
  const SandboxId id = world.create().id;
  world.a->refuse_kills(true);
  EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, id)), EndResult::stopping);
  world.sql("UPDATE sandbox SET backend_id = id || '@there' RETURNING 1");
  world.see("100");
  EXPECT_EQ(run(world.machines.step()), 1u);
  EXPECT_EQ(world.row(id).state, SandboxState::stopped);
}

TEST(MachineMonitor, ASandboxThatSomebodyHoldsUpHoldsUpNoOther) {
  MachineWorld world;
  const SandboxId locked = world.begin(), other = world.begin();
  test::Replica replica(world.database.url(), world.fixed(), test::kHasty);
  MachineMonitor machines(replica.lifecycle, {.own = "here", .silence = 0ms});
  {
    const test::HeldLock lock(world,
                              "SELECT FROM sandbox WHERE id = '" + locked.value + "' FOR UPDATE");
    EXPECT_EQ(run(machines.step()), 1u);
    EXPECT_EQ(world.row(other).state, SandboxState::failed);
    EXPECT_EQ(world.known(), "here there") << "one is left to be ended";
  }
  EXPECT_EQ(run(machines.step()), 1u);
  EXPECT_EQ(world.row(locked).state, SandboxState::failed);
  EXPECT_EQ(world.known(), "here");
}

TEST(MachineMonitor, OneThatSendsHeartbeatsKeepsItsSandboxes) {
  MachineWorld world({.own = "here", .silence = 50ms});
  const SandboxId id = world.begin();
  for (const char* ago : {"90", "80", "70"}) {
    EXPECT_EQ(run(world.machines.step()), 0u);
    std::this_thread::sleep_for(60ms);
    world.see(ago);
  }
  EXPECT_EQ(run(world.machines.step()), 0u);
  std::this_thread::sleep_for(60ms);
  EXPECT_EQ(run(world.machines.step()), 1u);
  EXPECT_EQ(world.row(id).state, SandboxState::failed);
}

TEST(MachineMonitor, WhoDidNotLookItselfBeginsToWaitAnew) {
  MachineWorld world({.own = "here", .silence = 50ms, .gap = 10ms});
  const SandboxId id = world.begin();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run(world.machines.step()), 0u);
    std::this_thread::sleep_for(60ms);
  }
  EXPECT_EQ(world.row(id).state, SandboxState::running);
}

TEST(MachineMonitor, ItsOwnIsThere) {
  MachineWorld world;
  run(world.machines.step());
  EXPECT_EQ(world.sql("SELECT name FROM machine WHERE seen_at > now() - interval '10 seconds'"),
            "here");
  MachineMonitor none(world.replica.lifecycle, {.silence = 1h});
  run(none.step());
  EXPECT_EQ(world.known(), "here") << "a gateway without sandboxes of its own has no machine";
}

TEST(MachineMonitor, WhatASilentOneMayHaveLostIsNotBookedByTheWay) {
  MachineWorld world;
  world.begin();
  EXPECT_EQ(run(world.replica.meter.flush(world.replica.database, 0s)), 0u);
  world.see("0");
  EXPECT_GT(run(world.replica.meter.flush(world.replica.database, 0s)), 0u);
}

}  // namespace
}  // namespace sandgate
