#include "tests/sandboxes/pausing_world.hpp"

namespace sandgate::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(PausingWorld, IdlenessPausesWhereTheProfileSaysSo) {
  const SandboxRecord box = world.create([](Profile& p) {
    p.idle_timeout_seconds = 60;
    p.on_idle = EndAction::pause;
  });
  auto late = world.replica.reaper(seconds(100));
  EXPECT_EQ(run(late.end_idle()), 0u);
  EXPECT_EQ(run(late.pause_due()), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::paused);
}

TEST_F(PausingWorld, WhatIsInUseHereIsNotPausedForIdleness) {
  const SandboxRecord box = idle();
  auto handle = world.replica.activity->use(box.id, kIdleTimeout);
  run(world.replica.reaper(seconds(100)).pause_due());
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
  EXPECT_EQ(times_paused(), "0");
  handle.reset();
  run(world.replica.reaper(seconds(100)).pause_due());
  EXPECT_EQ(world.row(box.id).state, SandboxState::paused);
}

TEST_F(PausingWorld, UseThatComesAsAnIdlePauseBeginsGoesOn) {
  const SandboxRecord box = idle();
  run(world.replica.lifecycle.get(world.tenant, box.id));
  Reaper reaper(world.replica.lifecycle,
                {.ahead = seconds(100), .activity = world.replica.activity});
  EXPECT_EQ(run(reaper.pause_due()), 1u);
  const OpenSandbox open = run(opening(box));
  run(reaper.drain());
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
  EXPECT_EQ(world.a->state_of(box.backend_id), BackendState::running);
  EXPECT_EQ(times_paused(), "0");
}

TEST_F(PausingWorld, UseThroughAnotherGatewayEndsAnIdlePause) {
  const SandboxRecord box = idle();
  world.sql("UPDATE sandbox SET last_active_at = now() - interval '1 hour' RETURNING id");
  Reaper reaper(world.replica.lifecycle, {});
  EXPECT_EQ(run(reaper.pause_due()), 1u);
  auto elsewhere = std::make_shared<Activity>(*world.database);
  auto handle = elsewhere->use(box.id, kIdleTimeout);
  run(elsewhere->flush_now({SandboxId::make(), box.id}));
  run(reaper.drain());
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
  EXPECT_EQ(times_paused(), "0");
}

TEST_F(PausingWorld, OneWhoseTimeIsOverIsPausedInUseOrNot) {
  const SandboxRecord box = world.create([](Profile& p) {
    p.ttl_seconds = p.idle_timeout_seconds = kIdleTimeout.count();
    p.on_expiry = p.on_idle = EndAction::pause;
  });
  auto handle = world.replica.activity->use(box.id, kIdleTimeout);
  run(world.replica.reaper(seconds(100)).pause_due());
  EXPECT_EQ(world.row(box.id).state, SandboxState::paused);
}

}  // namespace
}  // namespace sandgate::test
