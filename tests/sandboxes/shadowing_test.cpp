#include "gateway/sandboxes/creating/shadowing.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/sandboxes/world.hpp"

namespace sandgate::test {
namespace {

using ShadowFault = FakeProvider::Fault;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct ShadowWorld : World {
  // A create on "a" that version 4 shadows on "b".
  CreateOrder shadowed(const std::function<void(Profile&)>& change = {}) const {
    CreateOrder order = this->order();
    order.shadow = ShadowOrder{.version = 4, .request = order.request};
    order.shadow->request->profile.placement.order = {"b", "a"};
    if (change) change(order.shadow->request->profile);
    return order;
  }
  Json shadow_beside(const SandboxId& id) {
    auto read = [id](pqxx::work& tx) { return find_shadow(tx, id).value_or(Json()); };
    return run(database->run(std::move(read)));
  }
  // What the shadow came to, once it has ended.
  Json settled(const SandboxId& id) {
    for (;;) {
      Json shadow = shadow_beside(id);
      if (!shadow.is_null() && shadow["outcome"] != "running") return shadow;
      std::this_thread::yield();
    }
  }
  Json follow(const CreateOrder& order) {
    const SandboxRecord made = run(replica.lifecycle.create(order));
    shadowing.follow(order, made.id);
    return settled(made.id);
  }
  // Before `shadowing` goes, what it started has ended.
  ~ShadowWorld() { replica.pool.join(); }
  Shadowing shadowing{replica.lifecycle};
};

TEST(Shadowing, PlacesASecondTimeAndThrowsItAway) {
  ShadowWorld world;
  const Json shadow = world.follow(world.shadowed());
  EXPECT_EQ(shadow["version"], 4);
  EXPECT_EQ(shadow["outcome"], "created");
  EXPECT_EQ(shadow["decision"]["chosen"], "b");
  EXPECT_EQ(shadow["decision"]["attempts"][0]["outcome"], "created");
  EXPECT_EQ(world.a->alive(), 1u);
  EXPECT_EQ(world.b->creates(), 1);
  EXPECT_EQ(world.b->alive(), 0u);
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox"), "1");
  EXPECT_EQ(world.sql("SELECT count(*) FROM metered_sandbox"), "1") << "billed to nobody";
  EXPECT_TRUE(world.replica.board.health_of({"b"}).latency_p50_ms) << "what it learns counts";
}

TEST(Shadowing, TellsWhatTheOtherVersionCannotDo) {
  ShadowWorld world;
  const auto strong = [](Profile& p) { p.isolation = Isolation::microvm; };
  const Json nowhere = world.follow(world.shadowed(strong));
  EXPECT_EQ(nowhere["outcome"], "failed");
  EXPECT_EQ(nowhere["decision"]["candidates"][0]["rejected_because"][0], "isolation_too_weak");
  CreateOrder refused = world.shadowed();
  refused.shadow->request.reset();
  EXPECT_EQ(world.follow(refused),
            (Json{{"version", 4}, {"outcome", "refused"}, {"decision", {}}}));
  world.a->fail_creates(ShadowFault::none);
  world.b->fail_creates(ShadowFault::error, ErrorCode::no_capacity);
  const Json moved = world.follow(world.shadowed());
  EXPECT_EQ(moved["decision"]["chosen"], "a");
  EXPECT_EQ(moved["decision"]["attempts"].size(), 2u);
}

TEST(Shadowing, WhatCannotBeKilledIsAnOrphanThatTheSweepEnds) {
  ShadowWorld world;
  world.b->refuse_kills(true);
  EXPECT_EQ(world.follow(world.shadowed())["outcome"], "created");
  EXPECT_EQ(world.b->alive(), 1u);
  world.b->refuse_kills(false);
  Reconciler reconciler(world.replica.lifecycle, {.every = milliseconds(0), .orphan_age = {}});
  const auto b = world.replica.deployments.find(world.tenant, "b");
  EXPECT_EQ(run(reconciler.reconcile(b))->orphans_killed, 1u);
  EXPECT_EQ(world.b->alive(), 0u);
  EXPECT_EQ(world.a->alive(), 1u);
}

TEST(Shadowing, WhatItsBackendRepeatsLivesOn) {
  ShadowWorld world;
  const auto on_b = [](Profile& p) { p.placement.order = {"b", "a"}; };
  const SandboxRecord theirs = world.create(on_b);
  world.b->fail_creates(ShadowFault::repeated);
  EXPECT_EQ(world.follow(world.shadowed())["outcome"], "created");
  EXPECT_TRUE(world.b->has(theirs.id.value));
}

TEST(Shadowing, OneWhoseGatewayDiedIsUnknownOnceItsTimeIsOver) {
  ShadowWorld world;
  const SandboxId beside = SandboxId::make();
  world.sql(
      "INSERT INTO shadow (id, sandbox, tenant, profile, version, outcome, document) VALUES ('" +
      SandboxId::make().value + "', '" + beside.value + "', '" + world.tenant.value +
      "', 'python', 4, 'running', '{\"chosen\": null}') RETURNING id");
  EXPECT_EQ(run(world.replica.reaper(std::chrono::minutes(14)).close_shadows()), 0u);
  EXPECT_EQ(world.shadow_beside(beside)["outcome"], "running");
  EXPECT_EQ(run(world.replica.reaper(std::chrono::minutes(16)).close_shadows()), 1u);
  EXPECT_EQ(world.shadow_beside(beside)["outcome"], "unknown");
  EXPECT_EQ(world.sql("SELECT finished_at IS NOT NULL FROM shadow"), "t");
}

TEST(Shadowing, NeitherRestoresNorMoreThanAFewAtOnceAreFollowed) {
  ShadowWorld world;
  CreateOrder restore = world.shadowed();
  restore.request.snapshot = SnapshotId::make();
  world.shadowing.follow(restore, SandboxId::make());
  world.b->fail_creates(ShadowFault::slow, ErrorCode::unavailable, milliseconds(300));
  std::vector<SandboxId> followed;
  for (int i = 0; i < 6; ++i) {
    followed.push_back(SandboxId::make());
    world.shadowing.follow(world.shadowed(), followed.back());
  }
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(world.settled(followed[i])["outcome"], "created");
  EXPECT_EQ(world.sql("SELECT count(*) FROM shadow"), "4");
}

}  // namespace
}  // namespace sandgate::test
