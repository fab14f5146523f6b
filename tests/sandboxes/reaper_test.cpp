#include "gateway/sandboxes/upkeep/reaper.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "gateway/sandboxes/creating/insert_sandbox.hpp"
#include "tests/sandboxes/world.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Reaper, ABackendThatHangsHoldsUpItsOwnAlone) {
  World world;
  const auto on_b = [](Profile& p) { p.placement.order = {"b", "a"}; };
  std::vector<SandboxRecord> held;
  for (int i = 0; i < 40; ++i) held.push_back(world.create());
  const SandboxRecord other = world.create(on_b);
  world.a->hang_kills(true);
  Reaper reaper(world.replica.lifecycle, {.ahead = seconds(601), .batch = 100});
  EXPECT_EQ(run(reaper.expire()), 41u);
  for (const SandboxRecord& box : held) EXPECT_FALSE(world.metered(box.id));
  EXPECT_TRUE(eventually([&] { return world.row(other.id).state == SandboxState::stopped; }));
  EXPECT_EQ(world.row(held[0].id).state, SandboxState::stopping);
  EXPECT_TRUE(eventually([&] { return world.a->kills() >= 16; }));
  EXPECT_EQ(world.a->kills(), 16) << "at once";
  world.a->hang_kills(false);
  run(reaper.drain());
  EXPECT_EQ(world.a->alive(), 0u);
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox WHERE state = 'stopped'"), "41");
}

TEST(Reconciler, ABackendThatHangsHoldsUpNoOther) {
  World world;
  const SandboxRecord lost = world.create([](Profile& p) { p.placement.order = {"b", "a"}; });
  world.b->lose(lost.backend_id);
  world.a->hang_lists(true);
  Reconciler reconciler(world.replica.lifecycle, {.every = milliseconds(20)});
  asio::io_context loop;
  asio::co_spawn(loop, reconciler.run(), [](std::exception_ptr) {});
  while (world.row(lost.id).state != SandboxState::failed) loop.run_for(milliseconds(10));
  world.a->hang_lists(false);
  run(reconciler.drain());
}

TEST(Reconciler, AsksAVendorThatCountsRequestsLessOften) {
  World world;
  Descriptor slow = FakeProvider::capable("a");
  slow.min_list_interval = std::chrono::hours(1);
  world.a->offer(slow);
  run(world.replica.deployments.reload());
  Reconciler reconciler(world.replica.lifecycle, {.every = milliseconds(0)});
  for (const char* name : {"a", "b"}) {
    const DeploymentPtr on = world.replica.deployments.find(world.tenant, name);
    EXPECT_TRUE(run(reconciler.reconcile(on))) << name;
    EXPECT_EQ(run(reconciler.reconcile(on)).has_value(), std::string(name) == "b");
  }
}

TEST(KeyedWorkQueue, RunsNothingTwiceNorWithoutBound) {
  asio::thread_pool pool(2);
  KeyedWorkQueue queue(pool.get_executor(), {.at_once = 1, .max_queued = 2});
  std::atomic<bool> go{false};
  std::atomic<int> begun{0};
  const auto work = [&]() -> Task<void> {
    ++begun;
    while (!go) co_await sleep_for(milliseconds(1));
    throw std::runtime_error("is logged");
  };
  for (const char* id : {"one", "one", "two", "three", "four"}) queue.post("a", id, work);
  queue.post("b", "five", work);
  EXPECT_TRUE(eventually([&] { return begun >= 2; }));
  go = true;
  run(queue.drain());
  EXPECT_GE(begun, 3);
  EXPECT_LE(begun, 4) << "one at work, two waiting, and b's";
  queue.post("a", "one", work);
  run(queue.drain());
  EXPECT_GE(begun, 4);
  pool.join();
}

// As when the database stalls in a round that began before an outage.
TEST(Reaper, TakesNothingWhenItIsHeldByThen) {
  World world;
  const SandboxRecord box = world.create();
  bool held = true;
  Reaper reaper(world.replica.lifecycle,
                {.ahead = seconds(601), .end_is_known = [&](const SandboxId&) { return held; }});
  EXPECT_EQ(run(reaper.expire()), 0u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
  EXPECT_TRUE(world.metered(box.id));
  held = false;
  EXPECT_EQ(run(reaper.expire()), 1u);
  run(reaper.drain());
}

// A node of ours that crashed is back soon, and what it was to end shall not run on for long.
TEST(Reaper, TriesAgainSoonerOnOurOwnMachine) {
  for (const char* machine : {"", "m1"}) {
    World world(machine);
    const SandboxRecord box = world.create();
    world.a->refuse_kills(true);
    run(world.replica.lifecycle.kill(world.tenant, box.id));
    for (int tries = 0; tries < 8; ++tries)
      run(world.replica.lifecycle.finish_stopping(world.row(box.id)));
    const std::string pause =
        world.sql("SELECT extract(epoch FROM lease_until - now())::float FROM sandbox");
    EXPECT_NEAR(std::stod(pause), *machine ? 2 : 60, 1);
  }
}

// Else who asks again and again keeps it alive.
TEST(Reaper, AnEndThatIsAskedForAgainPutsOffNoTry) {
  World world;
  const SandboxRecord box = world.create();
  world.a->refuse_kills(true);
  run(world.replica.lifecycle.kill(world.tenant, box.id));
  const std::string due = world.sql("SELECT lease_until FROM sandbox");
  EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, box.id)), EndResult::stopping);
  EXPECT_EQ(world.sql("SELECT lease_until FROM sandbox"), due);
  world.a->refuse_kills(false);
  EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, box.id)), EndResult::ended);
}

TEST(Reaper, EndsWhatExpiredOnceAmongReplicas) {
  World world;
  Replica other(world.database.url(), world.fixed());
  for (int i = 0; i < 8; ++i) world.create();
  EXPECT_EQ(run(world.replica.reaper().expire()), 0u);
  Reaper one(world.replica.lifecycle, {.ahead = seconds(601)});
  Reaper two(other.lifecycle, {.ahead = seconds(601)});
  asio::thread_pool pool(2);
  auto first = asio::co_spawn(asio::make_strand(pool), one.expire(), asio::use_future);
  auto second = asio::co_spawn(asio::make_strand(pool), two.expire(), asio::use_future);
  pool.join();
  while (world.replica.database.in_flight() + other.database.in_flight() > 0)
    std::this_thread::yield();
  run(one.drain());
  run(two.drain());
  EXPECT_EQ(first.get() + second.get(), 8u);
  EXPECT_EQ(world.a->kills(), 8);
  EXPECT_EQ(world.a->alive(), 0u);
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox WHERE state = 'stopped' AND "
                      "stop_reason = 'expired'"),
            "8");
}

TEST(Reaper, NothingIsChargedBeyondTheTimeHoweverLateItEnds) {
  World world;
  const SandboxRecord box = world.create();
  world.sql("UPDATE sandbox SET expires_at = now() - interval '50 minutes' RETURNING id");
  world.sql(
      "UPDATE metered_sandbox SET opened_at = now() - interval '60 minutes', boundary = now() -"
      " interval '60 minutes', observed_at = now() - interval '60 minutes' RETURNING sandbox");
  run(world.replica.meter.flush(world.replica.database));
  EXPECT_EQ(run(world.replica.reaper().expire()), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
  EXPECT_EQ(world.sql("SELECT max(interval_end) = (SELECT expires_at FROM sandbox) AND"
                      " sum(quantity) BETWEEN 599 AND 601 FROM usage_event"
                      " WHERE meter = 'vcpu_second'"),
            "t");
}

// A create's first step alone, under a lease of 30 seconds.
SandboxRecord intend(World& world) {
  Decision decision = world.replica.lifecycle.explain(world.order());
  SandboxRecord record{.id = SandboxId::make(), .tenant = world.tenant, .profile = "python"};
  record.profile_version = 3;
  record.decision = decision.id;
  record.ttl_seconds = record.max_ttl_seconds = 600;
  record.planned = planned(decision);
  auto write = [=](pqxx::work& tx) {
    const Json overrides = Json::object();
    sandbox_rows::insert(tx, record, {decision, seconds(30), overrides, ""});
  };
  run(world.database->run(std::move(write)));
  return record;
}

// What a gateway leaves that is killed between the steps of a create.
TEST(Reaper, ResolvesACreateThatDiedAtAnyStep) {
  for (const bool backend_had_made_it : {false, true}) {
    World world;
    const SandboxRecord record = intend(world);
    if (backend_had_made_it) run(world.b->create({.sandbox_id = record.id.value}));
    EXPECT_EQ(run(world.replica.reaper().abandon()), 0u) << "its lease still runs";
    EXPECT_EQ(run(world.replica.reaper(seconds(31)).abandon()), 1u);
    EXPECT_EQ(world.row(record.id).state, SandboxState::failed);
    EXPECT_EQ(world.b->alive(), 0u);
    EXPECT_EQ(world.sql("SELECT count(*) FROM usage_event"), "0");
  }
}

TEST(Reaper, AsksAllThatMayHaveACreateAtOnce) {
  World world;
  const SandboxRecord record = intend(world);
  for (const auto& backend : {world.a, world.b})
    run(backend->create({.sandbox_id = record.id.value}));
  world.a->hang_kills(true);
  Reaper reaper(world.replica.lifecycle, {.ahead = seconds(31)});
  EXPECT_EQ(run(reaper.abandon()), 1u);
  EXPECT_TRUE(eventually([&] { return world.a->kills() > 0 && world.b->alive() == 0; }));
  EXPECT_EQ(world.row(record.id).state, SandboxState::stopping);
  world.a->hang_kills(false);
  run(reaper.drain());
  EXPECT_EQ(world.row(record.id).state, SandboxState::failed);
}

// A tenant's own backend, whose answers have no form that its adapter knows.
class OddProvider : public FakeProvider {
 public:
  using FakeProvider::FakeProvider;
  Task<void> kill(std::string) override {
    Json::array().value("state", "");
    co_return;
  }
};

TEST(Reaper, AnOddBackendHoldsUpNobodyElse) {
  World world;
  auto odd = std::make_shared<OddProvider>("odd");
  const auto on = [](std::string name, std::shared_ptr<FakeProvider> backend) {
    Deployment made{.name = name, .provider = name, .backend = backend};
    made.descriptor = backend->descriptor();
    return std::make_shared<const Deployment>(std::move(made));
  };
  Replica replica(world.database.url(), {on("odd", odd), on("b", world.b)});
  const auto create = [&](std::string where) {
    const auto there = [where](Profile& p) { p.placement.order = {where}; };
    return run(replica.lifecycle.create(world.order(there)));
  };
  const SandboxRecord first = create("odd"), second = create("b"), third = create("b");
  ASSERT_EQ(first.deployment, "odd");
  EXPECT_EQ(run(replica.reaper(std::chrono::hours(2)).expire()), 3u);
  EXPECT_EQ(world.row(first.id).state, SandboxState::stopping);
  EXPECT_EQ(world.row(second.id).state, SandboxState::stopped);
  EXPECT_EQ(world.row(third.id).state, SandboxState::stopped);
  EXPECT_EQ(world.b->alive(), 0u);
}

}  // namespace
}  // namespace sandgate::test
