#include "gateway/sandboxes/upkeep/reconciler.hpp"

#include <gmock/gmock.h>

#include "gateway/core/settle.hpp"
#include "tests/sandboxes/world.hpp"

namespace sandgate::test {
namespace {

using std::chrono::milliseconds;

TEST(Reconciler, FailsTheLostAndKillsOrphans) {
  World world;
  const SandboxRecord lost = world.create(), kept = world.create();
  world.a->lose(lost.backend_id);
  const std::string installation = world.replica.lifecycle.parts().installation->id();
  EXPECT_EQ(world.a->last_spec().installation, installation);
  run(world.a->create({.sandbox_id = SandboxId::make().value, .installation = installation}));
  Reconciler reconciler(world.replica.lifecycle,
                        {.every = milliseconds(0), .orphan_age = milliseconds(0)});
  const DeploymentPtr on = world.replica.deployments.find(world.tenant, "a");
  const auto result = run(reconciler.reconcile(on));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->lost, 1u);
  EXPECT_EQ(result->orphans_killed, 1u);
  const SandboxRecord failed = world.row(lost.id);
  EXPECT_EQ(failed.state, SandboxState::failed);
  EXPECT_EQ(failed.failure->code, "backend_lost");
  EXPECT_FALSE(world.metered(lost.id));
  EXPECT_TRUE(world.a->has(kept.id.value));
}

// As of a gateway that died and is started again.
TEST(Reconciler, LooksAtAMachineOfOursAsSoonAsItStarts) {
  World world("here");
  Lifecycle& lifecycle = world.replica.lifecycle;
  const SandboxRecord lost = world.create([](Profile& profile) {
    profile.placement.order = {"b", "a"};
  });
  Reconciler before(lifecycle, {}), after(lifecycle, {});
  const DeploymentPtr on = world.replica.deployments.find(world.tenant, "b");
  ASSERT_TRUE(run(before.reconcile(on)));
  world.b->lose(lost.backend_id);
  auto is_found = [&]() -> Task<bool> {
    for (int looks = 0; looks < 250 && world.row(lost.id).state == SandboxState::running; ++looks)
      co_await sleep_for(milliseconds(20));
    co_return world.row(lost.id).state == SandboxState::failed;
  };
  EXPECT_TRUE(run(with_companion(is_found(), after.run())));
  run(after.drain());
}

TEST(Reconciler, TakesTurnsWhereSeveralGatewaysLook) {
  World world;
  Reconciler one(world.replica.lifecycle, {}), other(world.replica.lifecycle, {});
  const DeploymentPtr on = world.replica.deployments.find(world.tenant, "a");
  EXPECT_TRUE(run(one.reconcile(on)));
  EXPECT_FALSE(run(other.reconcile(on)));
}

TEST(Reconciler, LooksAlthoughTheClockWasSetBack) {
  World world;
  Reconciler one(world.replica.lifecycle, {});
  const DeploymentPtr on = world.replica.deployments.find(world.tenant, "a");
  EXPECT_TRUE(run(one.reconcile(on)));
  world.sql("UPDATE sweep_lease SET until = until + interval '1 hour' RETURNING name");
  EXPECT_TRUE(run(one.reconcile(on)));
  EXPECT_FALSE(run(one.reconcile(on)));
}

// Any tenant may configure a backend that never answers.
TEST(Reconciler, ABackendThatIsAwayFillsNoLog) {
  World world;
  world.a->refuse_lists(true);
  Reconciler reconciler(world.replica.lifecycle, {.every = milliseconds(0)});
  const DeploymentPtr on = world.replica.deployments.find(world.tenant, "a");
  const auto logged = [&] {
    ::testing::internal::CaptureStderr();
    EXPECT_FALSE(run(reconciler.reconcile(on)));
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(logged(), ::testing::HasSubstr("it is away"));
  EXPECT_EQ(logged(), "");
}

TEST(Reconciler, SparesWhatAnotherInstallationMadeInTheSameAccount) {
  World world;
  const SandboxRecord ours = world.create();
  CreateSpec theirs{.sandbox_id = SandboxId::make().value, .installation = "0123456789abcdef"};
  run(world.a->create(theirs));
  theirs.installation = "";  // a backend that carries no more than the id
  theirs.sandbox_id = SandboxId::make().value;
  run(world.a->create(theirs));
  // Made before installations had names, and ended since.
  run(world.replica.lifecycle.kill(world.tenant, ours.id));
  run(world.a->create({.sandbox_id = ours.id.value}));
  Reconciler reconciler(world.replica.lifecycle,
                        {.every = milliseconds(0), .orphan_age = milliseconds(0)});
  const DeploymentPtr on = world.replica.deployments.find(world.tenant, "a");
  EXPECT_EQ(run(reconciler.reconcile(on))->orphans_killed, 1u);
  EXPECT_EQ(world.a->alive(), 2u);
  EXPECT_FALSE(world.a->has(ours.id.value));
}

}  // namespace
}  // namespace sandgate::test
