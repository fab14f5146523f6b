#include "gateway/sandboxes/sandbox_cache.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "gateway/core/notifications.hpp"
#include "gateway/sandboxes/extending.hpp"
#include "tests/sandboxes/world.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

using std::chrono::seconds;

TEST(SandboxCache, IsCoherentBetweenReplicas) {
  World world;
  Replica other(world.database.url(), world.fixed());
  Notifications notifications(world.database.url());
  notifications.subscribe(SandboxCache::kChannel,
                          [&](const std::string& change) { other.cache.on_notification(change); });
  notifications.start();
  asio::io_context loop;
  asio::cancellation_signal stop;
  asio::co_spawn(loop, other.cache.run(),
                 asio::bind_cancellation_slot(stop.slot(), asio::detached));
  std::thread beats([&] { loop.run(); });
  const SandboxRecord made = world.create();
  EXPECT_TRUE(eventually([&] {
    run(other.lifecycle.get(world.tenant, made.id));
    return other.cache.hits() > 0;
  }));
  EXPECT_EQ(run(other.lifecycle.get(world.tenant, made.id))->record.state, SandboxState::running);
  run(world.replica.lifecycle.kill(world.tenant, made.id));
  const auto killed = std::chrono::steady_clock::now();
  auto last_stale = killed;
  EXPECT_TRUE(eventually([&] {
    const auto asked = std::chrono::steady_clock::now();
    const auto known = run(other.lifecycle.get(world.tenant, made.id));
    if (known->record.state != SandboxState::running) return true;
    last_stale = asked;
    return false;
  }));
  EXPECT_LT(last_stale - killed, seconds(1));
  loop.stop();
  beats.join();
}

// Whether the notification comes before or after who made the change remembers it.
TEST(SandboxCache, KeepsWhatItHoldsWhenToldOfThatVeryChange) {
  World world;
  SandboxCache& cache = world.replica.cache;
  std::atomic<int> told{0};
  Notifications notifications(world.database.url());
  notifications.subscribe(SandboxCache::kChannel, [&](const std::string& change) {
    cache.on_notification(change);
    told += change.starts_with("sb");
  });
  notifications.start();
  asio::io_context loop;
  asio::co_spawn(loop, cache.run(), asio::detached);
  std::thread beats([&] { loop.run(); });
  const SandboxRecord made = world.create();
  EXPECT_TRUE(eventually([&] {
    run(world.replica.lifecycle.get(world.tenant, made.id));
    return cache.hits() > 0;
  }));
  uint64_t misses = cache.misses();
  for (int i = 1; i <= 20; ++i) {
    run(Extending(world.replica.lifecycle).extend(world.tenant, made.id, 100 + i));
    ASSERT_TRUE(eventually([&] { return told >= i; }));
    const auto known = run(world.replica.lifecycle.get(world.tenant, made.id));
    EXPECT_EQ(known->record.ttl_seconds, 100 + i);
  }
  EXPECT_EQ(cache.misses(), misses);
  // Somebody else's is read.
  world.sql("UPDATE sandbox SET milli_vcpu = 250 RETURNING id");
  EXPECT_TRUE(eventually([&] { return told >= 21; }));
  EXPECT_EQ(run(world.replica.lifecycle.get(world.tenant, made.id))->record.resources.milli_vcpu,
            250);
  EXPECT_EQ(cache.misses(), misses + 1);
  loop.stop();
  beats.join();
}

}  // namespace
}  // namespace sandgate::test
