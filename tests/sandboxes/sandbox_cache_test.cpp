#include "gateway/sandboxes/sandbox_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

// A cache that trusts itself for the next 900 ms, with a sandbox in it.
struct Listening {
  World world;
  SandboxCache cache{*world.database};
  SandboxRecord record{
      .id = SandboxId::make(), .state = SandboxState::running, .ttl_seconds = 100, .revision = 1};

  Listening() {
    cache.on_notification("beat");
    cache.store(record, cache.mark_of(record.id));
  }
  void others_change(int times) {
    for (int i = 0; i < times; ++i) cache.invalidate(SandboxId::make());
  }
  // Stores the sandbox with another time to live.
  void extend(int64_t ttl_seconds, SandboxCache::Mark as_of) {
    record.ttl_seconds = ttl_seconds;
    ++record.revision;
    cache.store(record, as_of);
  }
  // Its time to live; 0: it has to be read.
  int64_t cached() {
    const auto known = cache.peek(record.id);
    return known && *known ? (*known)->record.ttl_seconds : 0;
  }
};

TEST(SandboxCache, ChangesOfOthersKeepNoOldValue) {
  Listening world;
  auto mark = world.cache.mark_of(world.record.id);
  world.others_change(200);
  world.extend(200, mark);
  EXPECT_EQ(world.cached(), 200);
  mark = world.cache.mark_of(world.record.id);
  world.others_change(16 * 300);
  world.extend(300, mark);
  EXPECT_EQ(world.cached(), 0) << "the sandbox itself may be among so many";
}

TEST(SandboxCache, WhoeverChangesASandboxLastIsRemembered) {
  Listening world;
  const auto early = world.cache.mark_of(world.record.id);
  const SandboxRecord old = world.record;
  world.extend(200, early);
  world.cache.store(old, early);
  EXPECT_EQ(world.cached(), 0) << "a row that was read before the change comes too late";
  world.extend(300, world.cache.mark_of(world.record.id));
  EXPECT_EQ(world.cached(), 300);
  const auto mark = world.cache.mark_of(world.record.id);
  world.cache.invalidate(world.record.id);
  world.extend(400, mark);
  EXPECT_EQ(world.cached(), 0) << "somebody changed it meanwhile";
}

TEST(SandboxCache, TheChangeThatItIsToldOfIsItsOwn) {
  Listening world;
  const auto mark = world.cache.mark_of(world.record.id);
  world.cache.on_notification(world.record.id.value + " 2");
  EXPECT_EQ(world.cached(), 0);
  world.extend(200, mark);
  EXPECT_EQ(world.cached(), 200);
  world.cache.on_notification(world.record.id.value + " 2");
  EXPECT_EQ(world.cached(), 200);
  world.cache.on_notification(world.record.id.value + " 3");
  EXPECT_EQ(world.cached(), 0);
}

// How many of a hundred sandboxes with so much metadata are remembered.
size_t remembered(Database& database, size_t bytes_of_metadata, SandboxCache::Limits limits) {
  SandboxCache cache(database, limits);
  std::vector<SandboxId> ids;
  for (int i = 0; i < 100; ++i) {
    SandboxRecord record{.id = SandboxId::make(), .state = SandboxState::running};
    record.metadata["note"] = std::string(bytes_of_metadata, 'x');
    ids.push_back(record.id);
    cache.store(record, cache.mark_of(record.id));
    EXPECT_TRUE(cache.last_seen(record.id)) << "the latest always is";
  }
  return static_cast<size_t>(std::ranges::count_if(
      ids, [&](const SandboxId& id) { return cache.last_seen(id) != nullptr; }));
}

TEST(SandboxCache, LargeSandboxesAreForgottenEarlier) {
  World world;
  Database& database = *world.database;
  constexpr SandboxCache::Limits kTwoMib{.bytes = 2 << 20};
  EXPECT_EQ(remembered(database, 36 << 10, {}), 100u);
  EXPECT_EQ(remembered(database, 100, kTwoMib), 100u);
  // A record and its text have the metadata twice.
  const size_t large = remembered(database, 36 << 10, kTwoMib);
  EXPECT_LE(large, (2u << 20) / (72u << 10));
  EXPECT_GE(large, 10u);
  EXPECT_LT(remembered(database, 100, {.entries = 32}), 33u);
}

TEST(SandboxCache, WhatIsEvictedMakesRoom) {
  World world;
  SandboxCache cache(*world.database, {.bytes = 2 << 20});
  const auto store = [&] {
    SandboxRecord record{.id = SandboxId::make(), .state = SandboxState::running};
    record.metadata["note"] = std::string(4 << 10, 'x');
    cache.store(record, cache.mark_of(record.id));
    return record.id;
  };
  for (int i = 0; i < 2000; ++i) cache.evict(store());
  std::vector<SandboxId> ids;
  for (int i = 0; i < 16; ++i) ids.push_back(store());
  for (const SandboxId& id : ids) EXPECT_TRUE(cache.last_seen(id));
}

}  // namespace
}  // namespace sandgate::test
