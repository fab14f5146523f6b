#include "gateway/sandboxes/snapshots.hpp"

#include <gtest/gtest.h>

#include <future>

#include "tests/sandboxes/world.hpp"

namespace sandgate::test {
namespace {

using Fault = FakeProvider::Fault;
using std::chrono::seconds;
using Env = std::map<std::string, std::string>;

class SnapshotWorld : public testing::Test {
 protected:
  SnapshotRecord take(const SandboxRecord& box, std::string name = "") {
    return run(snapshots.take(world.tenant, box.id, std::move(name), Keeps::disk));
  }
  SandboxRecord restore(const SnapshotRecord& snapshot,
                        const std::function<void(Profile&)>& change = {}) {
    CreateOrder order = world.order(change);
    apply_snapshot(order, snapshot, std::nullopt);
    return run(world.replica.lifecycle.create(std::move(order)));
  }
  std::vector<Outcome<SandboxRecord>> fork(const SandboxRecord& box, size_t count) {
    return run(snapshots.fork(box, world.order(), count));
  }
  std::string told(const std::string& verb) {
    return world.sql("SELECT count(*) FROM event_outbox WHERE type = 'sandbox." + verb + "'");
  }
  std::string rows() { return world.sql("SELECT count(*) FROM snapshot"); }

  World world;
  Snapshots snapshots{world.replica.lifecycle};
};

TEST_F(SnapshotWorld, IsKeptListedFoundAndRemoved) {
  const SandboxRecord box = world.create();
  const SnapshotRecord first = take(box, "first"), second = take(box);
  EXPECT_EQ(told("snapshotted"), "2");
  EXPECT_EQ(to_json(first)["name"], "first");
  EXPECT_EQ(first.size_bytes, 4096);
  snapshot_rows::Page page{.tenant = world.tenant, .rows = 1};
  const auto newest = run(snapshots.list(page));
  ASSERT_EQ(newest.size(), 1u);
  EXPECT_EQ(newest[0].id, second.id);
  page.after = {newest[0].created_at, newest[0].id.value};
  EXPECT_EQ(run(snapshots.list(page))[0].id, first.id);
  run(snapshots.remove(world.tenant, first.id));
  EXPECT_EQ(code_of([&] { run(snapshots.find(world.tenant, first.id)); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { run(snapshots.remove(world.tenant, first.id)); }), ErrorCode::not_found);
  EXPECT_EQ(world.a->snapshots(), 1u);
  EXPECT_EQ(rows(), "1");
}

TEST_F(SnapshotWorld, BelongsToItsTenant) {
  const SnapshotRecord kept = take(world.create());
  const TenantId other = TenantId::make();
  EXPECT_EQ(code_of([&] { run(snapshots.find(other, kept.id)); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { run(snapshots.remove(other, kept.id)); }), ErrorCode::not_found);
  EXPECT_TRUE(run(snapshots.list({.tenant = other})).empty());
}

TEST_F(SnapshotWorld, RestoresWhereItIsHeldAndNowhereElse) {
  world.a->fail_creates(Fault::error, ErrorCode::no_capacity);
  const SandboxRecord box = world.create();
  EXPECT_EQ(box.deployment, "b");
  world.a->fail_creates(Fault::none);
  const SnapshotRecord kept = take(box);
  const SandboxRecord restored = restore(kept);
  EXPECT_EQ(restored.deployment, "b") << "although a is tried first";
  EXPECT_EQ(world.b->last_spec().snapshot, kept.backend_id);
  world.b->fail_creates(Fault::error, ErrorCode::no_capacity);
  EXPECT_EQ(code_of([&] { restore(kept); }), ErrorCode::no_capacity);
}

TEST_F(SnapshotWorld, CopiesHaveTheEnvThatWasGiven) {
  const auto profiles = [](Profile& p) { p.env = {{"A", "profile"}, {"B", "profile"}}; };
  CreateOrder order = world.order(profiles);
  order.env = {{"B", "given"}, {"TOKEN", "hunter2"}};
  for (const auto& [name, value] : order.env) order.request.profile.env[name] = value;
  const SandboxRecord box = run(world.replica.lifecycle.create(order));
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox t WHERE t::text LIKE '%hunter2%' OR"
                      " position('hunter2' in encode(sealed_env, 'escape')) > 0"),
            "0");
  const SnapshotRecord kept = take(box);
  const auto copies = run(snapshots.fork(box, world.order(profiles), 1));
  const Env inherited{{"A", "profile"}, {"B", "given"}, {"TOKEN", "hunter2"}};
  EXPECT_EQ(world.a->last_spec().env, inherited);
  const SandboxRecord copy = std::get<SandboxRecord>(copies.at(0));
  run(snapshots.fork(copy, world.order(profiles), 1));
  EXPECT_EQ(world.a->last_spec().env, inherited) << "a copy's copy";
  for (const SandboxRecord& one : {box, copy})
    run(world.replica.lifecycle.kill(world.tenant, one.id));
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox WHERE sealed_env IS NOT NULL AND"
                      " ended_at IS NOT NULL"),
            "0");
  CreateOrder again = world.order(profiles);
  again.env = again.request.profile.env = {{"B", "anew"}};
  run(snapshots.restore_from(again, kept, std::nullopt));
  run(world.replica.lifecycle.create(again));
  EXPECT_EQ(world.a->last_spec().env, (Env{{"B", "anew"}, {"TOKEN", "hunter2"}}));
}

TEST_F(SnapshotWorld, ARefusedCreateKeepsNoEnv) {
  world.a->fail_creates(Fault::error, ErrorCode::no_capacity);
  world.b->fail_creates(Fault::error, ErrorCode::no_capacity);
  CreateOrder order = world.order();
  order.env = {{"TOKEN", "hunter2"}};
  EXPECT_EQ(code_of([&] { run(world.replica.lifecycle.create(order)); }), ErrorCode::no_capacity);
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox WHERE sealed_env IS NULL"), "1");
}

// Else the reaper would take the snapshot from under a long fork.
TEST_F(SnapshotWorld, TheCopiesThatHaveToWaitRenewTheLease) {
  world.sql("CREATE TABLE renewal (id text)");
  world.sql(
      "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS "
      "$$BEGIN INSERT INTO renewal VALUES (NEW.id); RETURN NULL; END$$");
  world.sql(
      "CREATE TRIGGER renewed AFTER UPDATE ON snapshot FOR EACH ROW"
      " WHEN (NEW.state = 'ready' AND NEW.lease_until <> OLD.lease_until) EXECUTE FUNCTION note()");
  const SandboxRecord box = world.create();
  fork(box, 8);
  EXPECT_EQ(world.sql("SELECT count(*) FROM renewal"), "0");
  fork(box, 10);
  EXPECT_EQ(world.sql("SELECT count(*) FROM renewal"), "2");
}

TEST_F(SnapshotWorld, TheDiskIsTheSnapshots) {
  const SnapshotRecord kept = take(world.create([](Profile& p) { p.resources.disk_gib = 4; }));
  const auto roomy = [](Profile& p) { p.limits.max_disk_gib = 8; };
  EXPECT_EQ(restore(kept, roomy).resources.disk_gib, 4);
  EXPECT_EQ(code_of([&] { restore(kept); }), ErrorCode::invalid) << "more than the profile allows";
  CreateOrder order = world.order(roomy);
  EXPECT_EQ(code_of([&] { apply_snapshot(order, kept, 2); }), ErrorCode::invalid);
}

// Some vendors give a larger disk than was asked for, and give it again for the same size.
TEST_F(SnapshotWorld, ADiskThatWasRoundedUpIsRestoredForTheSizeThatWasAskedFor) {
  world.a->give({.milli_vcpu = 0, .memory_mib = 0, .disk_gib = 3, .processes = 0});
  const SnapshotRecord kept = take(world.create());
  EXPECT_EQ(kept.disk_gib, 3);
  CreateOrder order = world.order();
  run(snapshots.restore_from(order, kept, 2));
  EXPECT_EQ(order.request.profile.resources.disk_gib, 3);
  EXPECT_EQ(code_of([&] { run(snapshots.restore_from(order, kept, 4)); }), ErrorCode::invalid);
}

TEST_F(SnapshotWorld, ForksEachWithItsOwnOutcomeAndLeavesNoSnapshot) {
  const SandboxRecord box = world.create();
  world.sql("UPDATE tenant SET max_running = 4 RETURNING id");
  const auto copies = fork(box, 5);
  ASSERT_EQ(copies.size(), 5u);
  int made = 0, refused = 0;
  for (const auto& copy : copies) {
    if (std::holds_alternative<SandboxRecord>(copy)) ++made;
    if (const auto* error = std::get_if<Error>(&copy))
      refused += error->code == ErrorCode::quota_exceeded;
  }
  EXPECT_EQ(made, 3);
  EXPECT_EQ(told("forked"), "1");
  EXPECT_EQ(told("snapshotted"), "0");
  EXPECT_EQ(refused, 2);
  EXPECT_EQ(world.a->alive(), 4u);
  EXPECT_EQ(world.a->snapshots(), 0u);
  EXPECT_EQ(rows(), "0");
  EXPECT_TRUE(run(snapshots.list({.tenant = world.tenant})).empty());
}

TEST_F(SnapshotWorld, AForkIsNotToldOfAfterTheEndOfWhatWasForked) {
  const SandboxRecord box = world.create();
  world.a->fail_creates(Fault::slow, ErrorCode::unavailable, std::chrono::milliseconds(500));
  auto forking = std::async(std::launch::async, [&] { return fork(box, 1); });
  while (world.a->creates() < 2) std::this_thread::yield();
  run(world.replica.lifecycle.kill(world.tenant, box.id));
  EXPECT_TRUE(std::holds_alternative<SandboxRecord>(forking.get().at(0)));
  EXPECT_EQ(world.sql("SELECT type FROM event_outbox WHERE subject = 'sandboxes/" + box.id.value +
                      "' ORDER BY ordinal DESC LIMIT 1"),
            "sandbox.killed");
  EXPECT_EQ(told("forked"), "0");
}

TEST_F(SnapshotWorld, ARefusalLeavesNothing) {
  const SandboxRecord box = world.create();
  world.a->fail_states(Fault::error, ErrorCode::no_capacity);
  EXPECT_EQ(code_of([&] { take(box); }), ErrorCode::no_capacity);
  EXPECT_EQ(code_of([&] { fork(box, 2); }), ErrorCode::no_capacity);
  EXPECT_EQ(rows(), "0");
}

TEST_F(SnapshotWorld, ALostReplyIsCleanedUp) {
  const SandboxRecord box = world.create();
  world.a->fail_states(Fault::lost_reply);
  EXPECT_EQ(code_of([&] { take(box); }), ErrorCode::unavailable);
  EXPECT_EQ(world.a->snapshots(), 1u);
  EXPECT_TRUE(run(snapshots.list({.tenant = world.tenant})).empty());
  EXPECT_EQ(run(world.replica.reaper().clean_snapshots()), 0u) << "it may still be made";
  EXPECT_EQ(run(world.replica.reaper(seconds(1000)).clean_snapshots()), 1u);
  EXPECT_EQ(world.a->snapshots(), 0u);
  EXPECT_EQ(rows(), "0");
}

// It was there when it was asked: that is no 404.
TEST_F(SnapshotWorld, OfASandboxThatEndsMeanwhileTellItsState) {
  const SandboxRecord box = world.create();
  run(world.replica.lifecycle.kill(world.tenant, box.id));
  try {
    fork(box, 1);
    ADD_FAILURE() << "forked";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::conflict);
    EXPECT_EQ(error.details.value("state", ""), "stopped");
  }
  EXPECT_EQ(rows(), "0");
}

TEST_F(SnapshotWorld, OfASandboxThatItsBackendLostIsRefusedAsOfOneThatFailed) {
  const SandboxRecord box = world.create();
  world.a->lose(box.backend_id);
  EXPECT_EQ(code_of([&] { take(box); }), ErrorCode::conflict);
  EXPECT_EQ(world.row(box.id).state, SandboxState::failed);
}

TEST_F(SnapshotWorld, AForkThatDiedIsCleanedUp) {
  const SandboxRecord box = world.create();
  const SnapshotRecord kept = take(box);
  world.sql(
      "UPDATE snapshot SET for_fork = true, lease_until = now() + interval '15 minutes'"
      " RETURNING id");
  EXPECT_EQ(code_of([&] { run(snapshots.find(world.tenant, kept.id)); }), ErrorCode::not_found);
  EXPECT_EQ(run(world.replica.reaper().clean_snapshots()), 0u);
  EXPECT_EQ(run(world.replica.reaper(seconds(1000)).clean_snapshots()), 1u);
  EXPECT_EQ(world.a->snapshots(), 0u);
}

// A call under a key: what its run writes beside it, and what a retry hears of.
struct KeyedCall {
  explicit KeyedCall(World& w) : world(w) {
    world.sql(
        "INSERT INTO idempotent_call (scope, operation, key, body_hash, state, owner,"
        " lease_until) VALUES ('" +
        world.tenant.value + "', 'POST', 'k', '', 'running', 'first', now()) RETURNING key");
  }
  std::string effect() { return world.sql("SELECT effect FROM idempotent_call"); }
  World& world;
};

TEST_F(SnapshotWorld, ARetryOfOneThatFailedMakesIt) {
  KeyedCall call(world);
  const SandboxRecord box = world.create();
  world.a->fail_states(Fault::error);
  EXPECT_EQ(code_of([&] { run(snapshots.take(world.tenant, box.id, "", Keeps::disk, "first")); }),
            ErrorCode::unavailable);
  EXPECT_TRUE(SnapshotId::parse(call.effect()));
  EXPECT_FALSE(run(snapshots.recover(world.tenant, call.effect()))) << "nothing was made";
}

TEST_F(SnapshotWorld, ARetryTakesUpWhatWasMade) {
  KeyedCall call(world);
  const SandboxRecord box = world.create();
  const SnapshotRecord made = run(snapshots.take(world.tenant, box.id, "", Keeps::disk, "first"));
  EXPECT_EQ(call.effect(), made.id.value);
  EXPECT_EQ(run(snapshots.recover(world.tenant, call.effect()))->id, made.id);
  EXPECT_FALSE(run(snapshots.recover(TenantId::make(), call.effect())));
  run(snapshots.remove(world.tenant, made.id));
  EXPECT_FALSE(run(snapshots.recover(world.tenant, call.effect())));
}

TEST_F(SnapshotWorld, ARetryGivesUpWhatADeadMakerLeft) {
  const SnapshotRecord kept = take(world.create());
  world.sql(
      "UPDATE snapshot SET state = 'creating', lease_until = now() + interval '6 minutes'"
      " RETURNING id");
  EXPECT_FALSE(run(snapshots.recover(world.tenant, kept.id.value)));
  EXPECT_EQ(world.sql("SELECT state FROM snapshot"), "removing");
  EXPECT_EQ(run(world.replica.reaper().clean_snapshots()), 0u) << "it may still be made";
}

TEST_F(SnapshotWorld, ARetryOfAForkTakesUpItsCopies) {
  KeyedCall call(world);
  const SandboxRecord box = world.create();
  CreateOrder order = world.order();
  order.claim = "first";
  const auto copies = run(snapshots.fork(box, order, 3));
  const auto found = run(snapshots.recover_copies(world.tenant, call.effect()));
  EXPECT_EQ(found.size(), 3u);
  for (const auto& [i, copy] : found)
    EXPECT_EQ(copy.id, std::get<SandboxRecord>(copies.at(i)).id) << "at its place";
}

TEST_F(SnapshotWorld, ARetryOfAForkTakesUpAPartOfItsCopies) {
  KeyedCall call(world);
  const SandboxRecord box = world.create();
  world.sql("UPDATE tenant SET max_running = 4 RETURNING id");
  CreateOrder order = world.order();
  order.claim = "first";
  const auto copies = run(snapshots.fork(box, order, 5));
  auto found = run(snapshots.recover_copies(world.tenant, call.effect()));
  EXPECT_EQ(found.size(), 3u);
  for (size_t i = 0; i < copies.size(); ++i)
    EXPECT_EQ(found.contains(i), std::holds_alternative<SandboxRecord>(copies[i]));
  const SandboxId failed = found.begin()->second.id, killed = found.rbegin()->second.id;
  run(world.replica.lifecycle.kill(world.tenant, killed));
  world.sql(
      "UPDATE sandbox SET failure_code = 'unavailable', failure_detail = 'not kept' WHERE"
      " id = '" +
      failed.value + "' RETURNING id");
  found = run(snapshots.recover_copies(world.tenant, call.effect()));
  EXPECT_EQ(found.size(), 2u) << "who killed one knew of it; of one that failed nobody was told";
  EXPECT_FALSE(found.begin()->second.id == failed);
}

TEST_F(SnapshotWorld, ARetryOfAForkThatMadeNoneFindsNone) {
  KeyedCall call(world);
  const SandboxRecord box = world.create();
  world.a->fail_states(Fault::error);
  CreateOrder order = world.order();
  order.claim = "first";
  EXPECT_EQ(code_of([&] { run(snapshots.fork(box, order, 3)); }), ErrorCode::unavailable);
  EXPECT_TRUE(run(snapshots.recover_copies(world.tenant, call.effect())).empty());
  world.a->fail_states(Fault::none);
  world.a->fail_creates(Fault::error, ErrorCode::no_capacity);
  run(snapshots.fork(box, order, 3));
  EXPECT_TRUE(run(snapshots.recover_copies(world.tenant, call.effect())).empty());
}

TEST_F(SnapshotWorld, AreCounted) {
  const SandboxRecord box = world.create();
  const SnapshotRecord kept = take(box);
  world.sql(
      "INSERT INTO snapshot (id, tenant, state, for_fork, sandbox, deployment, backend_id,"
      " kept, disk_gib, lease_until) SELECT 'sn' || lpad(n::text, 24, '0'), tenant, state,"
      " false, sandbox, deployment, 'x' || n, kept, disk_gib, now()"
      " FROM snapshot, generate_series(1, 99) n RETURNING id");
  EXPECT_EQ(code_of([&] { take(box); }), ErrorCode::quota_exceeded);
  EXPECT_EQ(code_of([&] { fork(box, 1); }), std::nullopt) << "a fork keeps none";
  run(snapshots.remove(world.tenant, kept.id));
  EXPECT_EQ(code_of([&] { take(box); }), std::nullopt);
}

}  // namespace
}  // namespace sandgate::test
