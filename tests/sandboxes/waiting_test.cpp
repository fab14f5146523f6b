#include <gtest/gtest.h>

#include "gateway/sandboxes/extending.hpp"
#include "gateway/sandboxes/pausing.hpp"
#include "gateway/sandboxes/snapshots.hpp"
#include "tests/sandboxes/world.hpp"

// What waits for a pause or a copy that is under way, and what is told of those who do not.
namespace sandgate::test {
namespace {

using Fault = FakeProvider::Fault;
using std::chrono::milliseconds;
constexpr const char* kWays[][2] = {{"pausing", "paused"}, {"resuming", "running"}};

class WaitingWorld : public testing::Test {
 protected:
  void pause(const SandboxRecord& box) { run(pausing.pause(world.tenant, box.id, Keeps::memory)); }
  void turn(const SandboxRecord& box, const std::string& state) {
    world.sql("UPDATE sandbox SET state = '" + state + "' WHERE id = '" + box.id.value +
              "' RETURNING id");
    world.replica.cache.invalidate(box.id);
  }
  Task<OpenSandbox> opening(const SandboxRecord& box) {
    http::Caller caller{.role = http::Role::developer, .tenant = world.tenant};
    co_return co_await access.open(caller, box.id.value, Verb::exec);
  }

  World world;
  Pausing pausing{world.replica.lifecycle};
  CachedAccess access{world.replica.lifecycle, world.replica.activity};
};

TEST_F(WaitingWorld, ARefusalTellsTheState) {
  const SandboxRecord box = world.create();
  const auto state_told = [](Task<SandboxRecord> task) {
    const auto outcome = run(attempt(std::move(task)));
    const auto& details = std::get<Error>(outcome).details;
    return details.contains("state") ? details["state"].get<std::string>() : "none";
  };
  world.a->fail_states(Fault::error, ErrorCode::conflict);
  EXPECT_EQ(state_told(pausing.pause(world.tenant, box.id, Keeps::memory)), "running");
  world.a->fail_states(Fault::none);
  pause(box);
  world.a->fail_states(Fault::error, ErrorCode::conflict);
  EXPECT_EQ(state_told(pausing.resume(world.tenant, box.id)), "paused");
}

TEST_F(WaitingWorld, UseWaitsForTheCopyOfAPausedSandbox) {
  const SandboxRecord box = world.create([](Profile& p) { p.auto_resume = true; });
  pause(box);
  world.sql(
      "INSERT INTO snapshot (id, tenant, state, for_fork, name, sandbox, deployment, kept,"
      " disk_gib, lease_until) SELECT '" +
      SnapshotId::make().value +
      "', tenant, 'creating', false, '', id, deployment,"
      " 'disk', 1, now() + interval '1 hour' FROM sandbox RETURNING id");
  world.a->fail_states(Fault::error, ErrorCode::conflict);
  asio::thread_pool pool(2);
  auto use = asio::co_spawn(pool, opening(box), asio::use_future);
  EXPECT_EQ(use.wait_for(milliseconds(300)), std::future_status::timeout);
  world.a->fail_states(Fault::none);
  world.sql("DELETE FROM snapshot RETURNING id");
  EXPECT_EQ(use.get().backend_id, box.backend_id);
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
  pool.join();
}

TEST_F(WaitingWorld, UseResumesASandboxThatIsPausedAgainMeanwhile) {
  const SandboxRecord box = world.create([](Profile& p) { p.auto_resume = true; });
  pause(box);
  world.a->once_changed([&] { turn(box, "pausing"); });
  asio::thread_pool pool(2);
  auto use = asio::co_spawn(pool, opening(box), asio::use_future);
  EXPECT_EQ(use.wait_for(milliseconds(300)), std::future_status::timeout);
  turn(box, "paused");
  EXPECT_EQ(use.get().backend_id, box.backend_id);
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
  pool.join();
}

TEST_F(WaitingWorld, AResumeThatTheBackendRefusesIsNotRepeatedByUse) {
  const SandboxRecord box = world.create([](Profile& p) { p.auto_resume = true; });
  pause(box);
  world.a->fail_states(Fault::error, ErrorCode::conflict);
  const auto outcome = run(attempt(opening(box)));
  ASSERT_TRUE(std::holds_alternative<Error>(outcome));
  EXPECT_EQ(std::get<Error>(outcome).details["state"], "paused");
}

// Also where the cache does not know the state, as after a change by another gateway.
TEST_F(WaitingWorld, ItIsKnownWhetherASandboxIsPaused) {
  const SandboxRecord box = world.create();
  EXPECT_TRUE(run(opening(box)).can_pause);
  const auto is_paused = [&] { return run(access.is_paused(world.tenant, box.id)); };
  EXPECT_FALSE(is_paused());
  turn(box, "pausing");
  EXPECT_FALSE(is_paused()) << "what runs may still end";
  turn(box, "paused");
  EXPECT_TRUE(is_paused());
  EXPECT_TRUE(is_paused());
}

TEST_F(WaitingWorld, CopiesWaitForAPauseUnderWay) {
  Snapshots snapshots(world.replica.lifecycle);
  for (const auto& [before, after] : kWays) {
    const SandboxRecord box = world.create();
    turn(box, before);
    asio::thread_pool pool(2);
    auto forking = asio::co_spawn(pool, snapshots.source(world.tenant, box.id), asio::use_future);
    auto taking = asio::co_spawn(pool, snapshots.take(world.tenant, box.id, "", Keeps::disk),
                                 asio::use_future);
    EXPECT_EQ(forking.wait_for(milliseconds(200)), std::future_status::timeout) << before;
    EXPECT_EQ(taking.wait_for(milliseconds(0)), std::future_status::timeout) << before;
    turn(box, after);
    EXPECT_EQ(to_string(forking.get().state), after);
    EXPECT_EQ(taking.get().sandbox, box.id);
    pool.join();
  }
}

TEST_F(WaitingWorld, AnExtendWaitsForAPauseUnderWay) {
  for (const auto& [before, after] : kWays) {
    const SandboxRecord box = world.create();
    turn(box, before);
    asio::thread_pool pool(1);
    Extending extending(world.replica.lifecycle);
    auto extended =
        asio::co_spawn(pool, extending.extend(world.tenant, box.id, 100), asio::use_future);
    EXPECT_EQ(extended.wait_for(milliseconds(200)), std::future_status::timeout) << before;
    turn(box, after);
    EXPECT_EQ(to_string(extended.get().state), after);
    EXPECT_EQ(world.row(box.id).ttl_seconds, 100);
    pool.join();
  }
}

}  // namespace
}  // namespace sandgate::test
