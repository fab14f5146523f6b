#include <gtest/gtest.h>

#include <future>

#include "tests/sandboxes/held_lock.hpp"
#include "tests/sandboxes/outage_world.hpp"

// Two processes over one outage journal: one that ends and one that starts.
namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

struct OutageHandover : testing::Test {
  void remember(const SandboxRecord& box) {
    run(world.outage->append({world.tenant, box.id, SystemClock().now(), "killed", {}, {}, {}}));
  }
  std::future<std::unique_ptr<OutageJournal>> next_process() {
    return std::async(std::launch::async, [path = world.directory.path()] {
      return std::make_unique<OutageJournal>(
          DurableJournal::Options{.path = path + "/outage.journal"});
    });
  }

  OutageWorld world;
  const SandboxRecord one = world.create(), other = world.create();
};

TEST_F(OutageHandover, TheNextProcessHasAllThatTheFirstOneKept) {
  remember(one);
  auto starting = next_process();
  EXPECT_EQ(starting.wait_for(100ms), std::future_status::timeout);
  remember(other);
  world.outage->release();
  const auto next = starting.get();
  EXPECT_EQ(next->records(), 2u);
  EXPECT_EQ(code_of([&] { remember(other); }), ErrorCode::unavailable) << "it would be lost";
  EXPECT_EQ(run(world.outage->replay(*world.lifecycle)), 0u);
  EXPECT_TRUE(world.outage->has(one.id)) << "of which the first still books nothing";
  EXPECT_EQ(run(next->replay(*world.lifecycle)), 2u);
  EXPECT_EQ(world.row(one.id).state, SandboxState::stopping);
  EXPECT_EQ(world.row(other.id).state, SandboxState::stopping);
  EXPECT_EQ(next->records(), 0u);
}

TEST_F(OutageHandover, WhatIsBeingWrittenIsNotTakenOver) {
  remember(one);
  remember(other);
  asio::thread_pool pool(1);
  std::future<size_t> replaying;
  auto starting = [&] {
    const HeldLock lock(world, "SELECT FROM sandbox WHERE id = '" + one.id.value + "' FOR UPDATE");
    replaying = asio::co_spawn(pool, world.outage->replay(*world.lifecycle), asio::use_future);
    EXPECT_TRUE(eventually([&] { return world.database.has_lock_waiter(); }));
    world.outage->release();
    auto next = next_process();
    EXPECT_EQ(next.wait_for(100ms), std::future_status::timeout);
    return next;
  }();
  EXPECT_EQ(replaying.get(), 1u);
  const auto next = starting.get();
  EXPECT_EQ(next->records(), 2u) << "a file is emptied as a whole; what is written is marked so";
  EXPECT_EQ(run(next->replay(*world.lifecycle)), 2u);
  EXPECT_EQ(world.row(other.id).state, SandboxState::stopping);
  pool.join();
}

}  // namespace
}  // namespace sandgate::test
