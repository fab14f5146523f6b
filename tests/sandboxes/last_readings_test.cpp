#include <gtest/gtest.h>

#include <future>

#include "tests/sandboxes/held_lock.hpp"
#include "tests/sandboxes/paying_replica.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::run;
using test::small_order;

// A vCPU costs 0.06 in ten minutes, and 0.6 more as far as it is busy. Nobody could read how busy
// the sandbox was in the five minutes that it ran.
struct LastReading : testing::Test {
  LastReading() {
    replica.put(world.tenant, R"({"amount":"0.7","currency":"USD","window":"total"})");
    box = run(replica.lifecycle.create(small_order(world)));
    world.sql(
        "UPDATE metered_sandbox SET opened_at = opened_at - interval '300 s',"
        " boundary = boundary - interval '300 s', observed_at = observed_at -"
        " interval '300 s' RETURNING 1");
    world.sql(
        "UPDATE sandbox SET created_at = created_at - interval '300 s',"
        " expires_at = now() RETURNING 1");
    run(replica.database.run([this](pqxx::work& tx) { replica.meter.miss(tx, box.id); }));
    run(replica.meter.flush(replica.database));
    world.a->refuse_kills(true);
  }
  test::WholeSteps reaper(std::chrono::seconds ahead = {}) {
    return test::WholeSteps(replica.lifecycle, {.ahead = ahead});
  }
  void expire() { EXPECT_EQ(run(reaper().expire()), 1u); }
  std::string reserved() { return world.sql("SELECT round(reserved, 2) FROM budget"); }
  bool may_create() {
    return !test::code_of([this] { run(replica.lifecycle.create(small_order(world))); });
  }

  test::World world;
  test::PayingReplica replica{world, R"({"kind":"cost","currency":"USD",
    "effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"*","meter":"vcpu_second","unit_price":"0.0001"},
      {"provider":"*","meter":"active_cpu_second","unit_price":"0.001"}]})"};
  SandboxRecord box;
};

TEST_F(LastReading, IsPaidFromWhatTheSandboxHadSetAside) {
  expire();
  EXPECT_EQ(reserved(), "0.30") << "300 seconds";
  EXPECT_FALSE(may_create()) << "of 0.7 it would take 0.66";
  world.a->count({.cpu_micros = 300'000'000, .sampled_at = SystemClock().now()});
  world.a->refuse_kills(false);
  EXPECT_EQ(run(reaper(200s).finish()), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
  EXPECT_EQ(world.sql("SELECT round(spent, 2) || ' ' || trim_scale(reserved) FROM budget"),
            "0.33 0");
  EXPECT_EQ(world.sql("SELECT count(*) FROM reservation"), "0");
}

TEST_F(LastReading, HoldsNothingOnceItCameThoughTheSandboxIsStillThere) {
  world.a->count({.cpu_micros = 10'000'000, .sampled_at = SystemClock().now()});
  expire();
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopping);
  EXPECT_EQ(world.sql("SELECT round(spent, 2) || ' ' || trim_scale(reserved) FROM budget"),
            "0.04 0");
}

TEST_F(LastReading, HoldsNothingOnceTheSandboxIsGoneWithoutOne) {
  expire();
  world.a->refuse_kills(false);
  EXPECT_EQ(run(reaper(200s).finish()), 1u);
  EXPECT_EQ(reserved(), "0.00");
  EXPECT_TRUE(may_create());
}

TEST_F(LastReading, HoldsNothingOfASandboxThatIsLost) {
  world.a->lose(box.backend_id);
  run(replica.lifecycle.note_gone(box.id, "nobody knows it"));
  EXPECT_EQ(world.row(box.id).state, SandboxState::failed);
  EXPECT_EQ(reserved(), "0.00");
}

// Its first budget was set while it was ended, which saw none.
TEST_F(LastReading, HoldsNoMoreThanItMayComeToForOneThatIsStillStopping) {
  expire();
  world.sql("UPDATE reservation SET held = 0.5, ends_at = ends_at + interval '1 h' RETURNING 1");
  world.sql("UPDATE budget SET reserved = 0.5 RETURNING 1");
  EXPECT_TRUE(run(replica.budgets.renew(replica.database)).empty());
  EXPECT_EQ(reserved(), "0.30");
  EXPECT_TRUE(run(replica.budgets.renew(replica.database)).empty());
  EXPECT_EQ(reserved(), "0.30");
}

// Who ends it without a reading has its row, and goes on to its meter and its budgets.
TEST_F(LastReading, IsBookedWithTheRowInHand) {
  expire();
  world.a->count({.cpu_micros = 10'000'000, .sampled_at = SystemClock().now()});
  world.a->refuse_kills(false);
  const SandboxRecord stopping = world.row(box.id);
  const std::string id = "'" + box.id.value + "'";
  test::HeldLock row(world, "SELECT FROM sandbox WHERE id = " + id + " FOR UPDATE");
  auto ending = std::async(std::launch::async,
                           [&] { return run(replica.lifecycle.finish_stopping(stopping)); });
  EXPECT_TRUE(test::eventually([&] { return world.database.has_lock_waiter(); }));
  EXPECT_NO_THROW(test::HeldLock(
      world, "SELECT FROM metered_sandbox WHERE sandbox = " + id + " FOR UPDATE NOWAIT"));
  row.release();
  EXPECT_EQ(ending.get(), EndResult::ended);
}

}  // namespace
}  // namespace sandgate
