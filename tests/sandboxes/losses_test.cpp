#include <gtest/gtest.h>

#include "gateway/sandboxes/creating/shadowing.hpp"
#include "tests/sandboxes/world.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::run;
using test::World;

struct LossWorld : World {
  explicit LossWorld(const std::string& machine = "") : World(machine) {
    run(replica.prices.publish(price_version_from(
        parse_json(R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
          "entries":[{"provider":"*","meter":"vcpu_second","unit_price":"1"}]})"),
        "list")));
  }
  // As if everything so far had been that much earlier.
  void age(const SandboxId& id, int seconds) {
    const std::string by = " - interval '" + std::to_string(seconds) + " seconds'";
    sql("UPDATE metered_sandbox SET opened_at = opened_at" + by + ", boundary = boundary" + by +
        " WHERE sandbox = '" + id.value + "' RETURNING 1");
    sql("UPDATE sandbox SET created_at = created_at" + by + ", expires_at = expires_at" + by +
        " WHERE id = '" + id.value + "' RETURNING 1");
  }
  // Whole seconds that one vCPU costs; every price is 1.
  int lost() { return std::stoi("0" + sql("SELECT trunc(sum(cost)) FROM loss_event")); }
  bool books_balance() {
    return sql("SELECT coalesce(sum(debit - credit), 0) = 0 AND (SELECT coalesce(sum(cost), 0)"
               "   FROM loss_event) = coalesce(sum(debit) FILTER (WHERE account = 'loss'), 0)"
               " FROM ledger_entry") == "t";
  }
  size_t sweep(const std::string& name = "a") {
    Reconciler reconciler(replica.lifecycle, {.every = 0ms, .orphan_age = 0ms});
    const auto deployment = replica.deployments.find(tenant, name);
    return run(reconciler.reconcile(deployment))->orphans_killed;
  }
  // What was booked of sandboxes on `deployment`: how many, and whether each had eight vCPU.
  std::string booked_on(const std::string& deployment) {
    return sql(
        "SELECT count(DISTINCT backend_id) || ' ' || bool_and(quantity = 8 *"
        " extract(epoch FROM interval_end - interval_start)) FROM loss_event"
        " WHERE meter = 'vcpu_second' AND deployment = '" +
        deployment + "'");
  }
};

// A create on "a" has a shadow on "b", which gives eight vCPU.
struct ShadowLoss : LossWorld {
  ShadowLoss() { b->give({.milli_vcpu = 8000}); }
  ~ShadowLoss() { replica.pool.join(); }
  void follow() {
    CreateOrder order = this->order();
    order.shadow = ShadowOrder{.version = 4, .request = order.request};
    order.shadow->request->profile.placement.order = {"b", "a"};
    shadowing.follow(order, run(replica.lifecycle.create(order)).id);
    EXPECT_TRUE(test::eventually([&] { return sql("SELECT outcome FROM shadow") == "created"; }));
  }
  Shadowing shadowing{replica.lifecycle};
};

TEST(Loss, IsWhatRunsOnWhileItsBackendDoesNotAnswer) {
  LossWorld world;
  const SandboxRecord box = world.create();
  world.a->refuse_kills(true);
  EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, box.id)), EndResult::stopping);
  world.age(box.id, 100);
  const std::string charged = world.sql("SELECT sum(charge) FROM usage_event");
  EXPECT_EQ(run(world.replica.reaper(70s).finish()), 1u);
  EXPECT_EQ(world.lost(), 0) << "nothing until it is known when that ends";
  world.a->refuse_kills(false);
  EXPECT_EQ(run(world.replica.reaper(200s).finish()), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
  EXPECT_GE(world.lost(), 100);
  EXPECT_LE(world.lost(), 160);
  EXPECT_EQ(world.sql("SELECT sum(charge) FROM usage_event"), charged);
  EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, box.id)), EndResult::ended);
  EXPECT_TRUE(world.books_balance());
}

TEST(Loss, IsNobodysOnADeploymentOfTheTenants) {
  LossWorld world;
  DeploymentSet fixed = world.fixed();
  Deployment own = *fixed[0];
  own.tenant = world.tenant;
  fixed[0] = std::make_shared<const Deployment>(own);
  test::Replica replica(world.database.url(), fixed);
  run(replica.prices.load());
  const SandboxRecord box = run(replica.lifecycle.create(world.order()));
  EXPECT_EQ(box.deployment, "a");
  EXPECT_EQ(box.charge_per_hour, "0") << "known, and nothing";
  world.age(box.id, 100);
  world.a->refuse_kills(true);
  EXPECT_EQ(run(replica.lifecycle.kill(world.tenant, box.id)), EndResult::stopping);
  world.age(box.id, 100);
  world.a->refuse_kills(false);
  EXPECT_EQ(run(replica.reaper(200s).finish()), 1u);
  EXPECT_EQ(world.sql("SELECT sum(quantity) >= 100 FROM usage_event WHERE meter = 'vcpu_second'"),
            "t");
  EXPECT_EQ(world.sql("SELECT sum(cost + charge) FROM usage_event"), "0");
  EXPECT_EQ(world.lost(), 0);
  EXPECT_EQ(world.sql("SELECT count(*) FROM ledger_transfer"), "0");
}

TEST(Loss, IsNoneWhenTheBackendEndsItAtOnce) {
  LossWorld world;
  const SandboxRecord box = world.create();
  EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, box.id)), EndResult::ended);
  EXPECT_EQ(world.sql("SELECT count(*) FROM loss_event"), "0");
}

TEST(Loss, IsAlsoWhatAMachineOfOursRunsOn) {
  LossWorld world("here");
  const SandboxRecord box = world.create();
  world.age(box.id, 100);
  const Time asked = SystemClock().now() - 50s;
  EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, box.id, asked)), EndResult::ended);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
  EXPECT_GE(world.lost(), 50);
  EXPECT_LE(world.lost(), 60);
  EXPECT_TRUE(world.books_balance());
}

TEST(Loss, EndsWithItsOwnTimeWhenTheBackendHadThat) {
  LossWorld world;
  const SandboxRecord box = world.create([](Profile& profile) { profile.ttl_seconds = 1000; });
  world.a->refuse_kills(true);
  run(world.replica.lifecycle.kill(world.tenant, box.id));
  world.a->refuse_kills(false);
  world.a->lose(box.backend_id);
  world.age(box.id, 5000);
  EXPECT_EQ(run(world.replica.reaper(70s).finish()), 1u);
  EXPECT_GE(world.lost(), 990);
  EXPECT_LE(world.lost(), 1100) << "and the grace that backends are given";
  EXPECT_TRUE(world.books_balance());
}

TEST(Loss, IsAnOrphanFromWhenTheVendorSaysItWasMade) {
  LossWorld world;
  world.a->made_at(SystemClock().now() - 500s);
  run(world.a->create({.sandbox_id = SandboxId::make().value,
                       .installation = world.replica.lifecycle.parts().installation->id(),
                       .resources = {.milli_vcpu = 2000}}));
  EXPECT_EQ(world.sweep(), 1u);
  EXPECT_EQ(world.lost() / 20, 50) << "two vCPU for 500 seconds";
  EXPECT_EQ(world.sql("SELECT DISTINCT tenant FROM usage_event"), "");
  EXPECT_EQ(world.sweep(), 0u);
  EXPECT_TRUE(world.books_balance());
}

TEST(Loss, IsNoneOfWhatEndedAndLiesThere) {
  LossWorld world;
  const SandboxRecord box = world.create();
  world.a->leave(box.backend_id);
  const auto foreign = run(
      world.a->create({.sandbox_id = SandboxId::make().value, .installation = "another0another0"}));
  world.a->leave(foreign.backend_id);
  EXPECT_EQ(world.sweep(), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::failed);
  EXPECT_FALSE(world.a->has(box.id.value)) << "nobody else would remove it";
  EXPECT_TRUE(world.a->has(foreign.sandbox_id)) << "another installation's";
  EXPECT_EQ(world.lost(), 0);
  EXPECT_EQ(world.sweep(), 0u);
}

TEST(Loss, OfAnOrphanIsBookedThoughItsKillerDied) {
  LossWorld world;
  const SandboxId id = SandboxId::make();
  const auto made = run(world.a->create({.sandbox_id = id.value}));
  auto note = [&](pqxx::work& tx) {
    Losses::record_orphan(tx, {.id = id,
                               .backend_id = made.backend_id,
                               .deployment = "a",
                               .provider = "a",
                               .resources = {.milli_vcpu = 1000},
                               .since = SystemClock().now() - 100s});
  };
  run(world.database->run(note));
  world.a->lose(made.backend_id);  // killed, and nobody told
  EXPECT_EQ(world.lost(), 0);
  EXPECT_EQ(world.sweep(), 0u);
  EXPECT_EQ(world.lost() / 10, 10);
  EXPECT_TRUE(world.books_balance());
}

TEST(Loss, IsWhatAShadowCosts) {
  ShadowLoss world;
  world.follow();
  EXPECT_EQ(world.b->alive(), 0u);
  EXPECT_EQ(world.booked_on("b"), "1 true") << "at the size that is granted";
  EXPECT_EQ(world.sql("SELECT bool_and(l.sandbox = s.id) FROM loss_event l, shadow s"), "t");
  const std::string booked = world.sql("SELECT count(*) FROM loss_event");
  EXPECT_EQ(world.sweep("b"), 0u);
  EXPECT_EQ(world.sql("SELECT count(*) FROM loss_event"), booked);
  EXPECT_TRUE(world.books_balance());
}

// As if the gateway had died between the note and the end.
TEST(Loss, OfAShadowThatWasNotEndedIsBookedOnceByWhoEndsIt) {
  ShadowLoss world;
  world.b->refuse_kills(true);
  world.follow();
  EXPECT_EQ(world.b->alive(), 1u);
  EXPECT_EQ(world.sql("SELECT count(*) FROM loss_event"), "0");
  world.sql("UPDATE orphan SET since = since - interval '100 seconds' RETURNING 1");
  world.b->refuse_kills(false);
  EXPECT_EQ(world.sweep("b"), 1u);
  EXPECT_EQ(world.booked_on("b"), "1 true") << "as it was noted";
  EXPECT_EQ(world.lost() / 80, 10);
  EXPECT_EQ(world.sweep("b"), 0u);
  EXPECT_EQ(world.lost() / 80, 10);
  EXPECT_TRUE(world.books_balance());
}

TEST(Loss, IsWhatTheLoserOfAHedgeCosts) {
  LossWorld world;
  world.a->give({.milli_vcpu = 8000});
  world.a->fail_creates(test::FakeProvider::Fault::slow, ErrorCode::unavailable, 300ms);
  const auto hedged = [](Profile& profile) { profile.placement.fallback.hedge_after_ms = 20; };
  const SandboxRecord box = world.create(hedged);
  EXPECT_EQ(box.deployment, "b");
  EXPECT_TRUE(test::eventually([&] { return world.booked_on("a") == "1 true"; }));
  EXPECT_EQ(world.a->alive(), 0u);
  EXPECT_GE(world.lost(), 2) << "eight vCPU from the create on";
  EXPECT_EQ(world.sql("SELECT DISTINCT sandbox FROM loss_event"), box.id.value);
  EXPECT_EQ(world.sweep(), 0u);
  EXPECT_TRUE(world.metered(box.id));
  EXPECT_TRUE(world.books_balance());
}

TEST(Loss, IsWhatACreateCostsThatWasEndedBeforeItsBackendAnswered) {
  LossWorld world;
  world.a->give({.milli_vcpu = 8000});
  world.a->fail_creates(test::FakeProvider::Fault::slow, ErrorCode::unavailable, 500ms);
  auto creating = asio::co_spawn(world.replica.pool, world.replica.lifecycle.create(world.order()),
                                 asio::use_future);
  EXPECT_TRUE(test::eventually([&] { return world.a->creates() == 1; }));
  const SandboxId id{world.sql("SELECT id FROM sandbox WHERE state = 'creating'")};
  EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, id)), EndResult::ended);
  EXPECT_EQ(test::code_of([&] { creating.get(); }), ErrorCode::conflict);
  EXPECT_EQ(world.a->alive(), 0u);
  EXPECT_EQ(world.booked_on("a"), "1 true");
  EXPECT_EQ(world.sql("SELECT DISTINCT sandbox FROM loss_event"), id.value);
  EXPECT_EQ(world.sweep(), 0u);
  EXPECT_TRUE(world.books_balance());
}

TEST(Loss, OfOneWhoseCreatorDiedBeginsWithItsCreate) {
  LossWorld world;
  world.a->fail_creates(test::FakeProvider::Fault::lost_reply);
  const SandboxRecord placed = world.create();  // on b; a has one nobody knows
  world.sql("UPDATE sandbox SET created_at = created_at - interval '100 seconds' RETURNING 1");
  EXPECT_EQ(run(world.replica.reaper().resolve_unknown()), 1u);
  EXPECT_EQ(world.a->alive(), 0u);
  EXPECT_EQ(world.lost() / 10, 10);
  EXPECT_TRUE(world.metered(placed.id));
}

}  // namespace
}  // namespace sandgate
