#include <gtest/gtest.h>

#include <future>
#include <pqxx/pqxx>

#include "gateway/core/settle.hpp"
#include "tests/sandboxes/held_lock.hpp"

// What is ended as idle, and what is not.
namespace sandgate::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Idleness, EndsTheIdleButNotTheActive) {
  World world;
  const auto idle = [](Profile& p) { p.idle_timeout_seconds = 20; };
  const SandboxRecord used = world.create(idle), unused = world.create(idle);
  world.sql("UPDATE sandbox SET last_active_at = now() - interval '1 hour' RETURNING id");
  auto handle = world.replica.activity->use(used.id, seconds(20));
  EXPECT_TRUE(world.replica.activity->used_within(used.id, seconds(0)));
  run(world.replica.activity->flush(true));
  EXPECT_EQ(run(world.replica.reaper().end_idle()), 1u);
  EXPECT_EQ(world.row(used.id).state, SandboxState::running);
  EXPECT_EQ(world.row(unused.id).state, SandboxState::stopped);
}

TEST(Idleness, WhatIsInUseHereIsNotIdleWhateverItsRowSays) {
  World world;
  const SandboxRecord box = world.create([](Profile& p) { p.idle_timeout_seconds = 20; });
  world.sql("UPDATE sandbox SET last_active_at = now() - interval '1 hour' RETURNING id");
  auto handle = world.replica.activity->use(box.id, seconds(20));
  EXPECT_EQ(run(world.replica.reaper().end_idle()), 0u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
}

TEST(Idleness, AllThatAreInUseHereLiveOnHoweverManyTheyAre) {
  World world;
  std::vector<std::shared_ptr<void>> handles;
  for (int i = 0; i < 5; ++i) {
    const SandboxRecord box = world.create([](Profile& p) { p.idle_timeout_seconds = 20; });
    handles.push_back(world.replica.activity->use(box.id, seconds(20)));
  }
  world.sql("UPDATE sandbox SET last_active_at = now() - interval '1 hour' RETURNING id");
  Reaper reaper(world.replica.lifecycle, {.batch = 2, .activity = world.replica.activity});
  EXPECT_EQ(run(reaper.end_idle()), 0u);
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox WHERE state = 'running'"), "5");
}

TEST(Idleness, ALockedRowMakesNoneIdleThatIsInUse) {
  World world;
  const auto idle = [](Profile& p) { p.idle_timeout_seconds = 20; };
  const SandboxRecord locked = world.create(idle), used = world.create(idle);
  world.sql("UPDATE sandbox SET last_active_at = now() - interval '1 hour' RETURNING id");
  Replica replica(world.database.url(), world.fixed(), kHasty);
  std::vector<std::shared_ptr<void>> handles;
  for (const SandboxRecord& box : {locked, used})
    handles.push_back(replica.activity->use(box.id, seconds(20)));
  const auto written = [&](const SandboxRecord& box) {
    return world.sql(
        "SELECT last_active_at > now() - interval '1 minute' FROM sandbox WHERE id = '" +
        box.id.value + "'");
  };
  {
    const HeldLock lock(world,
                        "SELECT FROM sandbox WHERE id = '" + locked.id.value + "' FOR UPDATE");
    EXPECT_EQ(run(replica.reaper().end_idle()), 0u);
    EXPECT_EQ(written(used), "t");
    EXPECT_EQ(written(locked), "f");
  }
  run(replica.activity->flush());
  EXPECT_EQ(written(locked), "t");
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox WHERE state = 'running'"), "2");
}

// As after an outage of the database.
TEST(Idleness, AsksOtherGatewaysBeforeItEndsAnythingAsIdle) {
  World world;
  const SandboxRecord box = world.create([](Profile& p) { p.idle_timeout_seconds = 20; });
  world.sql("UPDATE sandbox SET last_active_at = now() - interval '1 hour' RETURNING id");
  auto elsewhere = std::make_shared<Activity>(*world.database);
  auto handle = elsewhere->use(box.id, seconds(20));
  pqxx::connection listening(world.database.url());
  struct Receiver : pqxx::notification_receiver {
    using notification_receiver::notification_receiver;
    std::string heard;
    void operator()(const std::string& payload, int) override { heard = payload; }
  } receiver(listening, Activity::kFlushChannel);
  Reaper reaper(world.replica.lifecycle, {.activity = world.replica.activity});
  asio::thread_pool pool(1);
  auto ending = asio::co_spawn(pool, reaper.end_idle(), asio::use_future);
  listening.await_notification(5, 0);
  EXPECT_EQ(receiver.heard, box.id.value);
  run(elsewhere->flush_now({box.id}));
  EXPECT_EQ(ending.get(), 0u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
  pool.join();
}

TEST(Idleness, AnIdleOneIsChargedToWhenItWasDue) {
  World world;
  const SandboxRecord box = world.create([](Profile& p) { p.idle_timeout_seconds = 20; });
  world.sql("UPDATE sandbox SET last_active_at = now() - interval '50 minutes' RETURNING id");
  world.sql(
      "UPDATE metered_sandbox SET opened_at = now() - interval '60 minutes', boundary = now() -"
      " interval '60 minutes', observed_at = now() - interval '60 minutes' RETURNING sandbox");
  EXPECT_EQ(run(world.replica.reaper().end_idle()), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
  EXPECT_EQ(world.sql("SELECT max(interval_end) = (SELECT last_active_at + interval '20 s' FROM"
                      " sandbox) FROM usage_event WHERE meter = 'vcpu_second'"),
            "t");
}

// Other gateways may have used what is older than this one, and not have written that yet.
TEST(Idleness, SoonAfterAStartOnlyWhatIsNewerIsJudgedByIt) {
  World world;
  const auto killed = [](Profile& p) { p.idle_timeout_seconds = 20; };
  const auto paused = [](Profile& p) {
    p.idle_timeout_seconds = 20;
    p.on_idle = EndAction::pause;
  };
  const SandboxRecord old = world.create(killed), old_to_pause = world.create(paused);
  Reaper reaper(world.replica.lifecycle,
                {.expiry_every = milliseconds(50), .activity = world.replica.activity});
  auto reaping =
      std::async(std::launch::async, [&] { return run(attempt_within(seconds(4), reaper.run())); });
  run(sleep_for(milliseconds(100)));
  const SandboxRecord fresh = world.create(killed), fresh_to_pause = world.create(paused);
  world.sql("UPDATE sandbox SET last_active_at = now() - interval '1 hour' RETURNING id");
  reaping.wait();
  run(reaper.drain());
  EXPECT_EQ(world.row(fresh.id).state, SandboxState::stopped);
  EXPECT_EQ(world.row(fresh_to_pause.id).state, SandboxState::paused);
  EXPECT_EQ(world.row(old.id).state, SandboxState::running);
  EXPECT_EQ(world.row(old_to_pause.id).state, SandboxState::running);
  EXPECT_EQ(run(world.replica.reaper().end_idle()), 1u) << "the control: it is idle";
  EXPECT_EQ(run(world.replica.reaper().pause_due()), 1u);
}

// It writes that down in time, whoever does not ask it.
TEST(Idleness, OneThatIsUsedThroughAnotherGatewayLivesOnAndEndsInTime) {
  static constexpr seconds kTimeout{2};
  World world;
  const SandboxRecord box =
      world.create([](Profile& p) { p.idle_timeout_seconds = kTimeout.count(); });
  auto elsewhere = std::make_shared<Activity>(*world.database);
  asio::thread_pool pool(1);
  asio::co_spawn(pool, elsewhere->run(), asio::detached);
  auto reaper = world.replica.reaper();
  const auto ended_within = [&](milliseconds time) {
    const auto limit = std::chrono::steady_clock::now() + time;
    size_t ended = 0;
    while (ended == 0 && std::chrono::steady_clock::now() < limit) {
      ended = run(reaper.end_idle());
      run(sleep_for(milliseconds(20)));
    }
    return ended > 0;
  };
  for (int i = 0; i < 4; ++i) {
    elsewhere->use(box.id, kTimeout);
    EXPECT_FALSE(ended_within(kTimeout - milliseconds(50))) << i;
  }
  EXPECT_TRUE(ended_within(seconds(10)));
  pool.stop();
  pool.join();
}

}  // namespace
}  // namespace sandgate::test
