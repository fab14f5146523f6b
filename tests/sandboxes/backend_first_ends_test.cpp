#include "gateway/sandboxes/ending/backend_first_ends.hpp"

#include <gtest/gtest.h>

#include "billing/usage/metered_rows.hpp"
#include "gateway/core/statement.hpp"
#include "gateway/sandboxes/failure_translation.hpp"
#include "gateway/sandboxes/rows/sandbox_rows.hpp"
#include "tests/sandboxes/counting_world.hpp"
#include "tests/sandboxes/paying_replica.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::CountingWorld;
using test::kAllMeters;
using test::run;

TEST(BackendFirstEnds, AreWrittenOnceAndBookedAfterwards) {
  CountingWorld world;
  const SandboxRecord box = world.create_earlier();
  EXPECT_EQ(world.kill(box.id), EndResult::ended);
  EXPECT_EQ(world.a->alive(), 0u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
  EXPECT_EQ(world.sql("SELECT string_agg(type, ' ' ORDER BY ordinal) FROM event_outbox"),
            "sandbox.created sandbox.running sandbox.killed");
  EXPECT_EQ(world.meters(box.id), "");
  EXPECT_GT(world.book_ends(), 0u);
  EXPECT_EQ(world.meters(box.id), kAllMeters);
  EXPECT_TRUE(world.charged_to_its_end(box.id));
  EXPECT_EQ(world.book_ends(), 0u);
}

TEST(BackendFirstEnds, WhoReadsUsageSeesThemBeforeTheyAreBooked) {
  CountingWorld world;
  const SandboxRecord box = world.create_earlier();
  world.kill(box.id);
  auto read = [&](pqxx::work& tx) { return world.replica.meter.unbooked(tx, world.tenant); };
  const std::vector<UsageEvent> seen = run(world.database->run(read));
  world.book_ends();
  const std::string booked = world.sql("SELECT sum(quantity) FROM usage_event");
  Decimal sum;
  for (const UsageEvent& event : seen) sum += event.quantity;
  EXPECT_EQ(sum.to_string(), Decimal::from_sql(booked.c_str()).to_string());
  EXPECT_TRUE(run(world.database->run(read)).empty());
}

TEST(BackendFirstEnds, WhoeverAsksForTheBooksWaitsForABookingUnderWay) {
  CountingWorld world;
  const SandboxRecord box = world.create_earlier();
  world.kill(box.id);
  pqxx::connection other(world.database.url());
  pqxx::work holdup(other);
  holdup.exec("LOCK TABLE usage_event IN SHARE MODE");
  auto booking = std::async(std::launch::async, [&] { return world.book_ends(); });
  EXPECT_TRUE(test::eventually([&] { return world.database.has_lock_waiter(); }));
  auto asked = world.ask(box.id);
  EXPECT_EQ(asked.wait_for(300ms), std::future_status::timeout);
  holdup.commit();
  EXPECT_EQ(asked.get(), kAllMeters);
  EXPECT_GT(booking.get(), 0u);
}

TEST(BackendFirstEnds, WhatABookingGaveUpIsBookedByWhoeverAsks) {
  CountingWorld world;
  const SandboxRecord box = world.create_earlier();
  world.kill(box.id);
  pqxx::connection other(world.database.url());
  pqxx::work giving_up(other);
  lock_booking(giving_up);
  giving_up.exec("SELECT FROM metered_sandbox FOR UPDATE");
  auto asked = world.ask(box.id);
  EXPECT_EQ(asked.wait_for(300ms), std::future_status::timeout);
  giving_up.abort();
  EXPECT_EQ(asked.get(), kAllMeters);
}

TEST(BackendFirstEnds, ABookingOfWhatRunsTakesThemAlong) {
  CountingWorld world;
  const SandboxRecord box = world.create_earlier();
  world.kill(box.id);
  EXPECT_GT(run(world.replica.meter.flush(*world.database)), 0u);
  EXPECT_EQ(world.unbooked(), "0");
  EXPECT_TRUE(world.charged_to_its_end(box.id));
}

TEST(BackendFirstEnds, OnesThatContradictTheBooksHoldNobodyUp) {
  CountingWorld world;
  const SandboxRecord bad = world.create_earlier(), good = world.create_earlier();
  run(world.replica.meter.flush(*world.database));
  world.kill(bad.id);
  world.kill(good.id);
  world.sql("UPDATE metered_sandbox SET boundary = opened_at, vcpu_total = 5 WHERE sandbox = '" +
            bad.id.value + "' RETURNING sandbox");
  world.book_ends();
  EXPECT_EQ(world.unbooked(), "0");
  EXPECT_TRUE(world.charged_to_its_end(good.id));
}

TEST(BackendFirstEnds, ThoseOfWhoHasABudgetAreBookedAtOnce) {
  CountingWorld world;
  const SandboxRecord box = world.create_earlier();
  world.sql(
      "INSERT INTO budget (tenant, name, amount, currency, time_window, timezone, on_exceeded,"
      " alert_at, applies_to, window_start, credits, spent, reserved) VALUES ('" +
      world.tenant.value +
      "', 'main', 100, 'USD', 'total', 'UTC', 'deny', '{}', '{}', now(), 0, 0, 0)"
      " RETURNING id");
  EXPECT_EQ(world.kill(box.id), EndResult::ended);
  EXPECT_EQ(world.unbooked(), "0");
  EXPECT_EQ(world.meters(box.id), kAllMeters);
  EXPECT_TRUE(world.charged_to_its_end(box.id));
}

// Neither sees the other: the end is not committed when money is set aside for what runs.
TEST(BackendFirstEnds, UnderWayWhenAFirstBudgetIsSetLeaveNothingSetAside) {
  for (const int count : {1, 2}) {
    CountingWorld world;
    test::PayingReplica replica(world, test::kPrices, "here");
    pqxx::connection other(world.database.url());
    forget_prepared();  // of the connection before
    std::vector<SandboxRecord> boxes;
    for (int i = 0; i < count; ++i) boxes.push_back(world.create_earlier());
    pqxx::work ending(other);
    const Time now = SystemClock().now();
    for (const SandboxRecord& box : boxes)
      EXPECT_TRUE(sandbox_rows::set_ended_speculatively(ending, box.id, now));
    replica.put(world.tenant, "100", OnExceeded::deny);
    EXPECT_EQ(world.sql("SELECT count(*) FROM reservation"), std::to_string(count));
    for (const SandboxRecord& box : boxes)
      sandbox_rows::close_meter_speculatively(ending, box.id, now, {{}, {}, now});
    ending.commit();
    EXPECT_GT(world.book_ends(), 0u);
    EXPECT_EQ(world.sql("SELECT count(*) FROM reservation"), "0");
    EXPECT_EQ(world.sql("SELECT trim_scale(reserved) FROM budget"), "0");
    EXPECT_EQ(world.sql("SELECT spent > 0 FROM budget"), "t");
  }
}

// As of a gateway that died between the sandbox and its row.
TEST(BackendFirstEnds, WhatADeadGatewayEndedIsNoLoss) {
  CountingWorld world;
  const SandboxRecord box = world.create_earlier();
  run(world.a->finish(box.backend_id));
  run(sleep_for(50ms));
  Reconciler reconciler(world.replica.lifecycle, {.every = 0ms});
  const DeploymentPtr on = world.replica.deployments.find(world.tenant, "a");
  EXPECT_EQ(run(reconciler.reconcile(on))->lost, 0u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
  world.book_ends();
  EXPECT_EQ(world.meters(box.id), kAllMeters);
  EXPECT_TRUE(world.ended_as_its_backend_says(box));
}

TEST(BackendFirstEnds, ABackendThatRefusesIsAskedInSteps) {
  CountingWorld world;
  const SandboxRecord box = world.create_earlier();
  world.a->refuse_kills(true);
  EXPECT_EQ(world.kill(box.id), EndResult::stopping);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopping);
  EXPECT_EQ(world.unbooked(), "0");
}

TEST(BackendFirstEnds, ManyAtOnceEndItOnce) {
  CountingWorld world;
  const SandboxRecord box = world.create_earlier();
  const auto kill = [&]() -> Task<void> {
    co_await world.replica.lifecycle.kill(world.tenant, box.id);
  };
  EXPECT_TRUE(test::at_once(8, kill).empty());
  world.book_ends();
  EXPECT_EQ(world.sql("SELECT count(*) FROM event_outbox WHERE type = 'sandbox.killed'"), "1");
  EXPECT_EQ(world.meters(box.id), kAllMeters);
  EXPECT_TRUE(world.charged_to_its_end(box.id));
}

// Gone already, though its row does not say so yet.
TEST(BackendFirstEnds, WhoMeetsOneUnderWayIsToldOfTheEnd) {
  CountingWorld world;
  const SandboxRecord box = world.create();
  const auto translated = [&](Error failure) {
    std::optional<Error> told;
    auto translate = [&]() -> Task<void> {
      auto translating = translate_failure(world.replica.lifecycle, world.tenant, box.id, failure);
      told = co_await std::move(translating);
    };
    run(translate());
    return told.value();
  };
  const Error missing = Error::not_found("sandbox", box.backend_id);
  EXPECT_EQ(translated(missing).code, ErrorCode::not_found);
  world.a->hang_kills(true);
  asio::thread_pool pool(1);
  auto killing =
      asio::co_spawn(pool, world.replica.lifecycle.kill(world.tenant, box.id), asio::use_future);
  EXPECT_TRUE(test::eventually([&] { return world.a->alive() == 0; }));
  const Error told = translated(Error(ErrorCode::conflict, "the program was cut off"));
  EXPECT_STREQ(told.what(), "the sandbox was ended by a call") << "before its row says so";
  EXPECT_EQ(translated(missing).code, ErrorCode::conflict);
  world.a->hang_kills(false);
  EXPECT_EQ(killing.get(), EndResult::ended);
  pool.join();
}

}  // namespace
}  // namespace sandgate
