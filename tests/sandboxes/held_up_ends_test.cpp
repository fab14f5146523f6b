#include <gtest/gtest.h>

#include "tests/sandboxes/held_lock.hpp"
#include "tests/sandboxes/outage_world.hpp"

// Ends in the outage journal of which one cannot be written, since somebody has its row locked.
namespace sandgate::test {
namespace {

using std::chrono::seconds;

struct HeldUpEnds : testing::Test {
  void remember(const SandboxRecord& box, Time at) {
    run(world.outage->append({world.tenant, box.id, at, "killed", {}, {}, {}}));
  }
  std::string lock_of(const SandboxRecord& box) {
    return "SELECT FROM sandbox WHERE id = '" + box.id.value + "' FOR UPDATE";
  }
  std::string events_of(const SandboxRecord& box) {
    return world.sql("SELECT count(*) FROM usage_event WHERE sandbox = '" + box.id.value + "'");
  }

  OutageWorld world;
  const SandboxRecord locked = world.create(), other = world.create(), living = world.create();
};

TEST_F(HeldUpEnds, HoldUpNeitherOthersNorTheBooking) {
  world.sql(
      "UPDATE metered_sandbox SET opened_at = opened_at - interval '20 s', boundary ="
      " boundary - interval '20 s', observed_at = observed_at - interval '20 s' RETURNING 1");
  const Time asked = SystemClock().now();
  remember(locked, asked);
  remember(locked, SystemClock().now());
  remember(other, SystemClock().now());
  Replica hasty(world.database.url(), world.fixed(), kHasty);
  Lifecycle::Parts parts = hasty.lifecycle.parts();
  parts.outage = world.outage.get();
  Lifecycle lifecycle(parts);
  hasty.meter.set_excluded([this] { return world.outage->kept(); });
  {
    const HeldLock lock(world, lock_of(locked));
    EXPECT_EQ(run(world.outage->replay(lifecycle)), 1u);
    EXPECT_EQ(world.row(other.id).state, SandboxState::stopping);
    EXPECT_EQ(world.outage->kept(), std::set<std::string>{locked.id.value});
    EXPECT_EQ(world.outage->records(), 2u);
    EXPECT_GT(run(hasty.meter.flush(hasty.database, seconds(0))), 0u);
  }
  EXPECT_EQ(events_of(locked), "0") << "it would be charged beyond its end";
  EXPECT_NE(events_of(living), "0");
  EXPECT_EQ(run(world.outage->replay(lifecycle)), 2u);
  EXPECT_FALSE(world.outage->is_pending());
  EXPECT_EQ(world.row(locked.id).state, SandboxState::stopping);
  EXPECT_EQ(from_micros(std::stoll(world.ended_at(locked.id))), asked) << "the first one counts";
}

TEST_F(HeldUpEnds, WhatIsWrittenAheadOfThemIsWrittenOnceThroughACrash) {
  remember(locked, SystemClock().now());
  remember(other, SystemClock().now());
  {
    Replica hasty(world.database.url(), world.fixed(), kHasty);
    Lifecycle::Parts parts = hasty.lifecycle.parts();
    parts.outage = world.outage.get();
    Lifecycle lifecycle(parts);
    const HeldLock lock(world, lock_of(locked));
    EXPECT_EQ(run(world.outage->replay(lifecycle)), 1u);
  }
  const std::string events = events_of(other);
  EXPECT_NE(events, "0");
  world.reopen();
  EXPECT_EQ(world.outage->records(), 2u);
  EXPECT_EQ(world.settle(), 2u);
  EXPECT_EQ(events_of(other), events);
  EXPECT_EQ(world.row(locked.id).state, SandboxState::stopping);
}

TEST_F(HeldUpEnds, AreReportedNoFurtherThanTheyAreBooked) {
  remember(other, SystemClock().now());
  Meter& meter = world.replica.meter;
  meter.set_excluded([this] { return world.outage->kept(); });
  auto read = [&](pqxx::work& tx) { return meter.unbooked(tx, world.tenant); };
  std::set<std::string> reported;
  for (const UsageEvent& event : run(world.database->run(read)))
    reported.insert(event.sandbox.value);
  EXPECT_EQ(reported, (std::set{living.id.value, locked.id.value}));
}

TEST_F(HeldUpEnds, ArePausedByNobodyAndChargedNoLonger) {
  const SandboxRecord box = world.create([](Profile& p) { p.on_expiry = EndAction::pause; });
  const Time asked = SystemClock().now();
  remember(box, asked);
  world.sql("UPDATE sandbox SET expires_at = now() - interval '1 s' WHERE id = '" + box.id.value +
            "' RETURNING 1");
  WholeSteps reaper(*world.lifecycle, {.end_is_known = [this](const SandboxId& id) {
    return world.outage->has(id);
  }});
  EXPECT_EQ(run(reaper.pause_due()), 1u);
  EXPECT_EQ(world.a->state_of(box.backend_id), BackendState::running);
  EXPECT_EQ(events_of(box), "0");
  EXPECT_EQ(run(world.outage->replay(*world.lifecycle)), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopping);
}

}  // namespace
}  // namespace sandgate::test
