#include <gtest/gtest.h>

#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/pausing.hpp"
#include "gateway/sandboxes/upkeep/usage_sampler.hpp"
#include "tests/sandboxes/outage_world.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::OutageWorld;
using test::run;
using test::TestDatabase;

TEST(Outage, AKillIsRememberedWithItsMoment) {
  OutageWorld world;
  const SandboxRecord killed = world.create(), living = world.create();
  run(world.replica.lifecycle.get(world.tenant, killed.id));
  world.a->count({.cpu_micros = 1'000'000});
  TestDatabase::stop_cluster();
  const Time before = SystemClock().now();
  EXPECT_EQ(run(world.lifecycle->kill(world.tenant, killed.id)), EndResult::ended);
  const Time after = SystemClock().now();
  EXPECT_EQ(run(world.lifecycle->kill(world.tenant, killed.id)), EndResult::ended) << "again";
  EXPECT_THROW(run(world.lifecycle->kill(TenantId::make(), killed.id)), Error) << "another tenant";
  EXPECT_EQ(world.a->alive(), 1u);
  EXPECT_THROW(world.create(), Error) << "no budget can be reserved";
  EXPECT_THROW(run(world.outage->replay(*world.lifecycle)), Error);
  world.reopen();
  EXPECT_EQ(world.outage->records(), 2u) << "that it was asked for, and that it came";
  TestDatabase::start_cluster();
  EXPECT_EQ(world.settle(), 2u);
  EXPECT_EQ(world.outage->records(), 0u);
  const Time end = from_micros(std::stoll(world.ended_at(killed.id)));
  EXPECT_GE(end, before);
  EXPECT_LE(end, after);
  EXPECT_EQ(from_micros(std::stoll(world.ended_at(killed.id, "active_cpu_second"))), end);
  EXPECT_TRUE(world.metered(living.id));
  EXPECT_EQ(run(world.replica.reaper().finish()), 0u) << "it is known to be gone";
  EXPECT_EQ(world.row(killed.id).state, SandboxState::stopped);
}

TEST(Outage, OneThatItsBackendHasNotEndedIsNotToldAsEnded) {
  OutageWorld world;
  const SandboxRecord box = world.create();
  run(world.lifecycle->get(world.tenant, box.id));
  const auto kill = [&] { return run(world.lifecycle->kill(world.tenant, box.id)); };
  TestDatabase::stop_cluster();
  world.a->refuse_kills(true);
  for (int tries = 0; tries < 3; ++tries) EXPECT_EQ(kill(), EndResult::stopping) << tries;
  EXPECT_EQ(world.outage->records(), 1u);
  world.a->refuse_kills(false);
  EXPECT_EQ(kill(), EndResult::ended);
  EXPECT_EQ(world.a->alive(), 0u);
  EXPECT_EQ(kill(), EndResult::ended);
  TestDatabase::start_cluster();
  EXPECT_EQ(world.settle(), 2u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
}

// The database is back before the journal is written: nobody hears that it runs after its end.
TEST(Outage, WhatIsKeptOnDiskIsToldOfAtOnce) {
  OutageWorld world;
  const SandboxRecord box = world.create();
  const auto told = [&] { return run(world.lifecycle->get(world.tenant, box.id)); };
  EXPECT_EQ(told()->record.state, SandboxState::running);
  run(world.outage->append({world.tenant, box.id, SystemClock().now(), "killed", {}, {}, {}}));
  const SandboxRecord read_before = world.row(box.id);
  EXPECT_EQ(read_before.state, SandboxState::running);
  EXPECT_EQ(told()->record.state, SandboxState::stopping);
  EXPECT_EQ(Json::parse(told()->body)["state"], "stopping");
  EXPECT_EQ(run(world.outage->replay(*world.lifecycle)), 1u);
  EXPECT_NE(told()->record.state, SandboxState::running);
  EXPECT_EQ(world.outage->reason_of(read_before), "killed") << "a list in the making";
  EXPECT_FALSE(world.outage->has(box.id));
}

TEST(Outage, APausedSandboxIsEndedTooButNotOneThatWasNeverSeen) {
  OutageWorld world;
  const SandboxRecord box = world.create();
  Pausing pausing(*world.lifecycle);
  run(pausing.pause(world.tenant, box.id, Keeps::memory));
  world.lifecycle->parts().cache.invalidate(box.id);
  TestDatabase::stop_cluster();
  EXPECT_THROW(run(world.lifecycle->get(world.tenant, box.id)), Error) << "how it is now";
  EXPECT_THROW(run(world.lifecycle->kill(TenantId::make(), box.id)), Error);
  EXPECT_THROW(run(world.lifecycle->kill(world.tenant, SandboxId::make())), Error);
  EXPECT_EQ(run(world.lifecycle->kill(world.tenant, box.id)), EndResult::ended);
  EXPECT_EQ(world.a->alive(), 0u);
  TestDatabase::start_cluster();
  EXPECT_EQ(world.settle(), 2u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
  EXPECT_EQ(world.sql("SELECT count(*) FROM loss_event"), "0");
}

TEST(Outage, APauseThatCannotBeWrittenIsUnavailable) {
  OutageWorld world;
  const SandboxRecord box = world.create();
  run(world.lifecycle->get(world.tenant, box.id));
  world.a->count({.cpu_micros = 1'000'000});
  Pausing pausing(*world.lifecycle);
  TestDatabase::stop_cluster();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(test::code_of([&] { run(pausing.pause(world.tenant, box.id, Keeps::memory)); }),
              ErrorCode::unavailable);
    run(sleep_for(50ms));
  }
  EXPECT_EQ(world.a->state_of(box.backend_id), BackendState::running);
  TestDatabase::start_cluster();
  run(world.lifecycle->transitions().wait_until_unmarked(box.id));
  EXPECT_FALSE(world.lifecycle->transitions().is_marked(box.id));
}

// The sweep may come to the database before the journal does.
TEST(Outage, WhoFindsItGoneDoesNotTakeItForLost) {
  OutageWorld world;
  const SandboxRecord box = world.create();
  const Time asked = SystemClock().now();
  run(world.outage->append({world.tenant, box.id, asked, "killed", {}, {}, {}}));
  run(world.lifecycle->note_gone(box.id, "the backend does not list it any more"));
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
  EXPECT_EQ(run(world.outage->replay(*world.lifecycle)), 1u);
  EXPECT_EQ(world.sql("SELECT stop_reason FROM sandbox WHERE id = '" + box.id.value + "'"),
            "killed");
  EXPECT_EQ(from_micros(std::stoll(world.ended_at(box.id))), asked);
}

TEST(Outage, ARecordThatWasAppliedBeforeACrashIsNotAppliedAgain) {
  OutageWorld world;
  const SandboxRecord box = world.create();
  EndIntention intention{world.tenant, box.id, SystemClock().now(), "killed", {}, {}, {}};
  run(world.outage->append(intention));
  const std::string path = world.directory.path() + "/outage.journal";
  std::filesystem::copy_file(path, path + ".before");
  EXPECT_EQ(run(world.outage->replay(*world.lifecycle)), 1u);
  const std::string events = world.sql("SELECT count(*) FROM usage_event");
  // The crash came after the commit and before the journal was emptied.
  std::filesystem::rename(path + ".before", path);
  world.reopen();
  EXPECT_EQ(world.outage->records(), 1u);
  run(world.outage->replay(*world.lifecycle));
  EXPECT_EQ(world.sql("SELECT count(*) FROM usage_event"), events);
  EXPECT_EQ(world.outage->records(), 0u);
}

TEST(Outage, ACreateThatCouldNotBeWrittenEndsWhateverItsRowSays) {
  OutageWorld world;
  world.lose_database_amid_create();
  EXPECT_EQ(world.outage->records(), 2u) << "that it ends, and that it did";
  EXPECT_EQ(world.a->alive(), 0u);
  TestDatabase::start_cluster();
  EXPECT_EQ(world.settle(), 2u);
  EXPECT_EQ(world.sql("SELECT state || failure_code FROM sandbox"), "failedunavailable");
}

// Made before anything of it was written down, and never written down at all.
TEST(Outage, ACreateOnAMachineOfOursThatCouldNotBeWrittenLeavesNothing) {
  OutageWorld world("here");
  world.lose_database_amid_create();
  EXPECT_EQ(world.a->alive(), 0u);
  EXPECT_EQ(test::code_of([&] { run(world.lifecycle->create(world.order())); }),
            ErrorCode::unavailable);
  EXPECT_EQ(world.a->creates(), 1) << "the next is refused before anything is made";
  TestDatabase::start_cluster();
  EXPECT_EQ(world.settle(), 2u);
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox"), "0");
}

// As when the commit went through and its answer did not.
TEST(Outage, ACreateThatNobodyWasToldOfCostsItsTenantNothing) {
  OutageWorld world;
  const SandboxRecord box = world.create();
  world.sql(
      "UPDATE metered_sandbox SET opened_at = opened_at - interval '20 s', boundary ="
      " boundary - interval '20 s', observed_at = observed_at - interval '20 s' RETURNING 1");
  EndIntention end{.tenant = world.tenant,
                   .sandbox = box.id,
                   .at = Meter::kNeverBegan,
                   .reason = "failed",
                   .failure = SandboxFailure{"unavailable", "no answer"},
                   .gone_at = SystemClock().now()};
  run(world.outage->append(end));
  EXPECT_EQ(world.settle(), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::failed);
  EXPECT_EQ(world.sql("SELECT count(*) FROM usage_event"), "0");
  EXPECT_EQ(
      world.sql("SELECT count(DISTINCT meter) FROM loss_event WHERE meter IN ('sandbox_created',"
                " 'vcpu_second')"),
      "2");
}

// One gateway stands still in the transaction that says that it runs, another is asked again.
TEST(Outage, WhoTakesOverACreateFromAGatewayThatStandsStillChargesNothing) {
  OutageWorld world;
  test::Replica other(world.database.url(), world.fixed(), 300ms);
  Lifecycle::Parts parts = other.lifecycle.parts();
  parts.outage = world.outage.get();
  Lifecycle taking_over(parts);
  world.a->fail_creates(test::FakeProvider::Fault::slow, {}, 200ms);
  asio::thread_pool pool(1);
  auto creating = asio::co_spawn(pool, world.lifecycle->create(world.order()), asio::use_future);
  EXPECT_TRUE(test::eventually([&] { return world.a->creates() > 0; }));
  const SandboxId id{world.sql("SELECT id FROM sandbox WHERE state = 'creating'")};
  {
    pqxx::connection connection(world.database.url());
    pqxx::work still(connection);
    still.exec_params("SELECT FROM sandbox WHERE id = $1 FOR UPDATE", id.value);
    EXPECT_TRUE(test::eventually([&] { return world.a->alive() > 0; }));
    EXPECT_EQ(run(taking_over.kill_uncharged(world.tenant, id)), EndResult::ended);
    EXPECT_EQ(world.a->alive(), 0u);
  }
  EXPECT_EQ(creating.get().state, SandboxState::running) << "it came to it later";
  pool.join();
  EXPECT_EQ(world.settle(), 2u);
  EXPECT_EQ(world.row(id).state, SandboxState::stopped);
  EXPECT_EQ(world.sql("SELECT count(*) FROM usage_event"), "0");
  EXPECT_EQ(world.sql("SELECT trim_scale(sum(quantity)) FROM loss_event"
                      " WHERE meter = 'sandbox_created'"),
            "1");
}

TEST(Outage, OneThatNobodyWasToldOfCostsNothingWhereEndsAreCountedEither) {
  OutageWorld world("here");
  const SandboxRecord box = world.create();
  EXPECT_EQ(run(world.lifecycle->kill_uncharged(world.tenant, box.id)), EndResult::ended);
  EXPECT_EQ(run(world.lifecycle->kill_uncharged(world.tenant, box.id)), EndResult::ended)
      << "again";
  EXPECT_EQ(world.a->alive(), 0u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
  run(world.replica.meter.flush(world.replica.database));
  EXPECT_EQ(world.sql("SELECT count(*) FROM usage_event"), "0");
}

TEST(Outage, WhoGoesAwayInTheMiddleHoldsUpNobody) {
  OutageWorld world;
  const SandboxRecord box = world.create();
  constexpr int kEnds = 250;
  EndIntention intention{world.tenant, box.id, SystemClock().now(), "killed", {}, {}};
  for (int i = 0; i < kEnds; ++i) run(world.outage->append(intention));
  const auto leave_early = [&]() -> Task<void> {
    auto replaying = world.outage->replay(*world.lifecycle);
    auto racing = with_timeout(1ms, std::move(replaying));
    co_await attempt(std::move(racing));
  };
  try {
    run(leave_early());
  } catch (const std::exception&) {
    // The caller is cancelled.
  }
  run(world.outage->replay(*world.lifecycle));
  EXPECT_EQ(world.outage->records(), 0u);
  EXPECT_EQ(world.outage->replayed(), static_cast<uint64_t>(kEnds));
}

TEST(Outage, AReplayThatBreaksOffGoesOnWhereItStopped) {
  OutageWorld world;
  std::vector<SandboxRecord> boxes{world.create(), world.create(), world.create()};
  for (const SandboxRecord& box : boxes)
    run(world.outage->append({world.tenant, box.id, SystemClock().now(), "killed", {}, {}, {}}));
  // The database goes away again at the second record.
  world.sql(
      "CREATE FUNCTION go_away() RETURNS trigger LANGUAGE plpgsql AS "
      "$$BEGIN RAISE EXCEPTION 'away' USING ERRCODE = '57P03'; END$$");
  world.sql(
      "CREATE TRIGGER away BEFORE UPDATE ON outage_journal FOR EACH ROW EXECUTE FUNCTION"
      " go_away()");
  const auto broken = run(attempt(world.outage->replay(*world.lifecycle)));
  ASSERT_TRUE(std::holds_alternative<Error>(broken));
  EXPECT_FALSE(world.outage->has(boxes[0].id));
  EXPECT_TRUE(world.outage->has(boxes[1].id));
  EXPECT_EQ(world.outage->records(), 2u);
  world.sql("DROP TRIGGER away ON outage_journal");
  EXPECT_EQ(world.settle(), 2u);
  for (const SandboxRecord& box : boxes) EXPECT_FALSE(world.outage->has(box.id));
  EXPECT_FALSE(world.outage->is_pending());
}

TEST(Outage, AnEndThatTheDatabaseRefusesHoldsUpNoOther) {
  OutageWorld world;
  std::vector<SandboxRecord> boxes{world.create(), world.create()};
  for (const SandboxRecord& box : boxes)
    run(world.outage->append({world.tenant, box.id, SystemClock().now(), "killed", {}, {}, {}}));
  world.sql(
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
      "$$BEGIN RAISE EXCEPTION 'refused'; END$$");
  world.sql("CREATE TRIGGER refusing BEFORE UPDATE ON sandbox FOR EACH ROW WHEN (OLD.id = '" +
            boxes[0].id.value + "') EXECUTE FUNCTION refuse()");
  EXPECT_EQ(run(world.outage->replay(*world.lifecycle)), 1u);
  EXPECT_FALSE(world.outage->is_pending());
  EXPECT_FALSE(world.outage->has(boxes[0].id));
  EXPECT_EQ(world.row(boxes[0].id).state, SandboxState::running);
  EXPECT_EQ(world.row(boxes[1].id).state, SandboxState::stopping);
}

TEST(Outage, ARecordOfAnotherReleaseHoldsUpNoOther) {
  OutageWorld world;
  const SandboxRecord box = world.create();
  world.outage.reset();
  {
    DurableJournal other({.path = world.directory.path() + "/outage.journal"});
    run(other.append(R"({"what":"is not known here"})"));
  }
  world.reopen();
  EndIntention intention{world.tenant, box.id, SystemClock().now(), "killed", {}, {}};
  run(world.outage->append(std::move(intention)));
  EXPECT_EQ(run(world.outage->replay(*world.lifecycle)), 1u);
  EXPECT_EQ(world.outage->records(), 0u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopping);
}

TEST(Outage, ASandboxItsBackendLostMeanwhileFailsAtThatMoment) {
  OutageWorld world;
  const SandboxRecord box = world.create();
  run(world.replica.lifecycle.get(world.tenant, box.id));
  TestDatabase::stop_cluster();
  run(world.lifecycle->note_gone(box.id, "its backend lost it \xff"));
  TestDatabase::start_cluster();
  EXPECT_EQ(world.settle(), 1u);
  run(world.replica.reaper().finish());
  EXPECT_EQ(world.row(box.id).state, SandboxState::failed);
  EXPECT_EQ(world.row(box.id).failure->code, "backend_lost");
}

TEST(Counters, AreReadWhileASandboxRunsAndWhenItEnds) {
  test::World world;
  const SandboxRecord box = world.create();
  UsageSampler sampler(world.replica.lifecycle, {.min_age = 0s});
  world.a->count({.cpu_micros = 100, .egress_bytes = 1 << 30});
  EXPECT_EQ(run(sampler.sample()), 1u);
  world.a->count({.cpu_micros = 300, .egress_bytes = 2 << 29});
  run(world.replica.lifecycle.kill(world.tenant, box.id));
  const auto total = [&](const std::string& meter) {
    return world.sql("SELECT trim_scale(sum(quantity)) FROM usage_event WHERE meter = '" + meter +
                     "'");
  };
  EXPECT_EQ(total("active_cpu_second"), "0.0003");
  EXPECT_EQ(total("egress_gib"), "1");
}

TEST(Counters, AreReadAtTheEndFromABackendThatHasNotSaidYetWhatItCanDo) {
  test::World world;
  const SandboxRecord box = world.create();
  world.a->count({.cpu_micros = 100, .egress_bytes = 1 << 30});
  Descriptor unread;
  unread.provider = "a";
  unread.known = false;
  world.a->offer(unread);
  run(world.replica.deployments.reload());
  run(world.replica.lifecycle.kill(world.tenant, box.id));
  EXPECT_EQ(world.sql("SELECT trim_scale(quantity) FROM usage_event WHERE meter = 'egress_gib'"),
            "1");
}

TEST(Counters, ThoseOfAnotherMachineStandInNobodysWay) {
  test::World world;
  const SandboxRecord elsewhere = world.create();
  world.sql("UPDATE sandbox SET backend_id = id || '@other' WHERE id = '" + elsewhere.id.value +
            "' RETURNING id");
  world.create();
  world.a->count({.cpu_micros = 1'000'000});
  UsageSampler sampler(world.replica.lifecycle, {.min_age = 0s, .most = 1});
  EXPECT_EQ(run(sampler.sample()), 1u);
}

}  // namespace
}  // namespace sandgate
