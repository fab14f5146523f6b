#include <gtest/gtest.h>

#include "gateway/sandboxes/pausing.hpp"
#include "gateway/sandboxes/snapshots.hpp"
#include "tests/sandboxes/world.hpp"

// What a gateway does about sandboxes and snapshots on the machines of others.
namespace sandgate::test {
namespace {

using std::chrono::seconds;

struct ElsewhereWorld : testing::Test {
  void move(const std::string& table, const std::string& machine) {
    world.sql("UPDATE " + table + " SET backend_id = id || '@" + machine + "' RETURNING id");
  }
  SnapshotRecord take(const SandboxRecord& box) {
    return run(snapshots.take(world.tenant, box.id, "", Keeps::disk));
  }
  std::string snapshot_rows() { return world.sql("SELECT count(*) FROM snapshot"); }
  size_t cleaned_by(const std::string& machine) {
    Reaper reaper(world.replica.lifecycle, {.ahead = seconds(400), .machine = machine});
    const size_t taken = run(reaper.clean_snapshots());
    run(reaper.drain());
    return taken;
  }

  World world{"m1"};
  Snapshots snapshots{world.replica.lifecycle};
};

// Its own gateway would carry out what the row says.
TEST_F(ElsewhereWorld, SandboxesAreNeitherPausedNorResumed) {
  const SandboxRecord box = world.create();
  Pausing pausing(world.replica.lifecycle);
  move("sandbox", "m2");
  world.replica.cache.invalidate(box.id);
  EXPECT_EQ(code_of(pausing.pause(world.tenant, box.id, Keeps::memory)), ErrorCode::unavailable);
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
  world.sql("UPDATE sandbox SET state = 'paused'");
  world.replica.cache.invalidate(box.id);
  EXPECT_EQ(code_of(pausing.resume(world.tenant, box.id)), ErrorCode::unavailable);
  EXPECT_EQ(world.row(box.id).state, SandboxState::paused);
}

TEST_F(ElsewhereWorld, SandboxesAreEndedByTheirOwnGatewayHoweverOftenThisOneIsAsked) {
  const SandboxRecord box = world.create();
  move("sandbox", "m2");
  world.a->refuse_kills(true);  // as LocalProvider does
  world.a->lose(box.backend_id);  // and it knows nothing of the other machine's
  world.replica.cache.invalidate(box.id);
  const auto is_due = [&] { return world.sql("SELECT lease_until <= now() FROM sandbox"); };
  EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, box.id)), EndResult::stopping);
  EXPECT_EQ(is_due(), "t");
  world.sql("UPDATE sandbox SET lease_until = now() - interval '1 minute' RETURNING id");
  run(world.replica.lifecycle.kill(world.tenant, box.id));
  EXPECT_EQ(is_due(), "t");
}

// As a repeated create does, whose first gateway has died.
TEST_F(ElsewhereWorld, SandboxesAreToldOfAsTheirRowsSay) {
  const SandboxRecord box = world.create();
  move("sandbox", "m2");
  world.replica.cache.invalidate(box.id);
  const auto known = run(world.replica.lifecycle.refresh(world.tenant, box.id));
  EXPECT_EQ(known->record.state, SandboxState::running);
}

TEST_F(ElsewhereWorld, SandboxesAreNotCopied) {
  const SandboxRecord box = world.create();
  move("sandbox", "m2");
  world.replica.cache.invalidate(box.id);
  EXPECT_EQ(code_of([&] { take(box); }), ErrorCode::unavailable);
  EXPECT_EQ(snapshot_rows(), "0");
}

TEST_F(ElsewhereWorld, SnapshotsAreNotRestored) {
  const SnapshotRecord kept = take(world.create());
  CreateOrder order = world.order();
  EXPECT_EQ(code_of(snapshots.restore_from(order, kept, std::nullopt)), std::nullopt);
  move("snapshot", "m2");
  const SnapshotRecord moved = run(snapshots.find(world.tenant, kept.id));
  EXPECT_EQ(code_of(snapshots.restore_from(order, moved, std::nullopt)), ErrorCode::unavailable);
}

TEST_F(ElsewhereWorld, SnapshotsAreRemovedByTheirOwnGateway) {
  const SnapshotRecord kept = take(world.create());
  move("snapshot", "m2");
  run(snapshots.remove(world.tenant, kept.id));
  EXPECT_EQ(snapshot_rows(), "1");
  EXPECT_TRUE(run(snapshots.list({.tenant = world.tenant})).empty());
  EXPECT_EQ(world.sql("SELECT lease_until <= now() FROM snapshot"), "t") << "it need not wait";
  EXPECT_EQ(cleaned_by("m1"), 0u);
  EXPECT_EQ(cleaned_by("m2"), 1u);
}

TEST_F(ElsewhereWorld, SnapshotsThatWaitForTheirGatewayKeepNoEnv) {
  CreateOrder order = world.order();
  order.env = {{"TOKEN", "hunter2"}};
  const SnapshotRecord kept = take(run(world.replica.lifecycle.create(order)));
  const auto with_env = [&] {
    return world.sql("SELECT count(*) FROM snapshot WHERE sealed_env IS NOT NULL");
  };
  EXPECT_EQ(with_env(), "1");
  move("snapshot", "m2");
  run(snapshots.remove(world.tenant, kept.id));
  EXPECT_EQ(snapshot_rows(), "1");
  EXPECT_EQ(with_env(), "0");
}

TEST_F(ElsewhereWorld, SnapshotsThatWaitForALostMachineAreForgottenInTheEnd) {
  const SandboxRecord box = world.create();
  const SnapshotRecord removed = take(box), young = take(box), ready = take(box);
  move("snapshot", "m2");
  for (const SnapshotRecord& one : {removed, young}) run(snapshots.remove(world.tenant, one.id));
  world.sql("UPDATE snapshot SET lease_until = now() - interval '31 days' WHERE id <> '" +
            young.id.value + "' RETURNING id");
  const auto forget = [&] {
    return run(world.database->run([](pqxx::work& tx) {
      return snapshot_rows::forget_lost(tx, std::chrono::hours(24 * 30), 100);
    }));
  };
  world.sql("INSERT INTO machine (name, seen_at) VALUES ('m2', now()) RETURNING name");
  EXPECT_EQ(forget(), 0u) << "its gateway is there";
  world.sql("DELETE FROM machine RETURNING name");
  EXPECT_EQ(forget(), 1u);
  EXPECT_EQ(world.sql("SELECT string_agg(state, ' ' ORDER BY state) FROM snapshot"),
            "ready removing");
}

// It may be made there although nobody heard of it.
TEST_F(ElsewhereWorld, SnapshotsWithoutAnAnswerNameTheirMachine) {
  world.a->fail_states(FakeProvider::Fault::error, ErrorCode::unavailable);
  const SandboxRecord box = world.create();
  EXPECT_EQ(code_of([&] { take(box); }), ErrorCode::unavailable);
  EXPECT_EQ(world.sql("SELECT backend_id = id || '@m1' FROM snapshot"), "t");
  EXPECT_EQ(cleaned_by("m2"), 0u);
  EXPECT_EQ(cleaned_by("m1"), 1u);
  EXPECT_EQ(snapshot_rows(), "0");
}

}  // namespace
}  // namespace sandgate::test
