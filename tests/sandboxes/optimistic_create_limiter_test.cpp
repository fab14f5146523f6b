#include "gateway/sandboxes/creating/optimistic_create_limiter.hpp"

#include <gtest/gtest.h>

#include "gateway/sandboxes/creating/insert_sandbox.hpp"
#include "tests/sandboxes/world.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::code_of;
using test::FakeProvider;
using test::World;

TEST(OptimisticCreates, AreAFewOfEachTenantAtOnce) {
  const auto starts = std::make_shared<OptimisticCreateLimiter>();
  const TenantId one = TenantId::make(), other = TenantId::make();
  std::vector<std::shared_ptr<void>> held;
  for (int i = 0; i < OptimisticCreateLimiter::kAtOnce; ++i)
    held.push_back(starts->take(one, SandboxId::make()));
  for (const auto& start : held) EXPECT_TRUE(start);
  EXPECT_FALSE(starts->take(one, SandboxId::make()));
  EXPECT_TRUE(starts->take(other, SandboxId::make()));
  held.pop_back();
  EXPECT_TRUE(starts->take(one, SandboxId::make()));
}

TEST(OptimisticCreates, AreNotForWhoWasRefusedLately) {
  const auto starts = std::make_shared<OptimisticCreateLimiter>();
  const TenantId tenant = TenantId::make();
  const OptimisticCreateLimiter::Instant now{};
  starts->refused(tenant, now + 1s);
  EXPECT_FALSE(starts->take(tenant, SandboxId::make(), now + 2s));
  EXPECT_TRUE(
      starts->take(tenant, SandboxId::make(), now + 1s + OptimisticCreateLimiter::kBackoff));
}

TEST(OptimisticCreates, AreForNobodyWhileNothingCanBeWritten) {
  const auto starts = std::make_shared<OptimisticCreateLimiter>();
  const OptimisticCreateLimiter::Instant now{};
  starts->not_written(now + 1s);
  EXPECT_FALSE(starts->take(TenantId::make(), SandboxId::make(), now + 2s));
  EXPECT_TRUE(starts->take(TenantId::make(), SandboxId::make(),
                           now + 1s + OptimisticCreateLimiter::kBackoff));
}

TEST(OptimisticCreates, KnowWhatMayBeThereWithoutARow) {
  const auto starts = std::make_shared<OptimisticCreateLimiter>();
  const SandboxId sandbox = SandboxId::make();
  auto held = starts->take(TenantId::make(), sandbox);
  EXPECT_TRUE(starts->holds(sandbox));
  held.reset();
  EXPECT_FALSE(starts->holds(sandbox));
}

// As of a gateway that died between the sandbox and its row, beside one that is at work.
TEST(OptimisticCreates, WhatADeadGatewayLeftIsEndedAtOnceAndNothingElse) {
  World world("here");
  const SandboxRecord kept = world.create();
  const SandboxId left = SandboxId::make(), under_way = SandboxId::make();
  for (const SandboxId& id : {left, under_way})
    test::run(world.a->create({.sandbox_id = id.value}));
  Lifecycle& lifecycle = world.replica.lifecycle;
  const auto held = lifecycle.parts().optimistic_creates->take(world.tenant, under_way);
  Reconciler reconciler(lifecycle, {.every = 0ms});
  const DeploymentPtr on = world.replica.deployments.find(world.tenant, "a");
  EXPECT_EQ(test::run(reconciler.reconcile(on))->orphans_killed, 1u);
  EXPECT_FALSE(world.a->has(left.value));
  EXPECT_TRUE(world.a->has(under_way.value));
  EXPECT_TRUE(world.a->has(kept.id.value));
}

// What is seen of a create on a machine of ours is what is seen of any other.
TEST(OptimisticCreates, LeaveTheSameRowsAndEvents) {
  std::vector<std::string> seen;
  for (const char* machine : {"", "here"}) {
    World world(machine);
    world.create();
    seen.push_back(world.sql(
        "SELECT concat_ws(' ', s.state, s.deployment, backend_id <> '', deployment_owner,"
        " expires_at = s.created_at + ttl_seconds * interval '1 s', planned, a.outcome, a.ordinal,"
        " m.state, (SELECT string_agg(type, ' ' ORDER BY ordinal) FROM event_outbox))"
        " FROM sandbox s JOIN attempt a ON a.sandbox = s.id"
        " JOIN metered_sandbox m ON m.sandbox = s.id JOIN decision d ON d.id = s.decision"));
  }
  EXPECT_NE(seen[0], "");
  // Its time begins when it runs, which is when its row is written.
  EXPECT_EQ(seen[1], "running a t  t {a,b} created 1 running sandbox.created sandbox.running");
}

// What `try_fast_insert` writes of a sandbox that runs on "a", if it does.
bool write_at_once(World& world, const SandboxId& id, const Decision& decision, Time until) {
  SandboxRecord record{.id = id, .tenant = world.tenant, .state = SandboxState::running};
  record.profile = "python";
  record.profile_version = 3;
  record.decision = decision.id;
  record.deployment = record.provider = "a";
  record.backend_id = id.value;
  record.ttl_seconds = record.max_ttl_seconds = 600;
  auto write = [=](pqxx::nontransaction& statement) {
    const Json overrides = Json::object();
    const sandbox_rows::NewRow row{decision, 30s, overrides, ""};
    return sandbox_rows::try_fast_insert(statement, record, row, "", until).has_value();
  };
  return test::run(world.database->run_statement(std::move(write)));
}

constexpr const char* kRows =
    "SELECT (SELECT count(*) FROM sandbox) || ' ' || (SELECT count(*) FROM metered_sandbox) || ' '"
    " || (SELECT count(*) FROM decision) || ' ' || (SELECT count(*) FROM event_outbox)";

TEST(OptimisticCreates, AreWrittenAtOnceWhereNothingIsToBeJudged) {
  World world("here");
  const Time later = world.replica.clock.now() + 1min;
  const SandboxId id = SandboxId::make();
  const Decision decision = world.replica.lifecycle.explain(world.order());
  EXPECT_FALSE(write_at_once(world, id, decision, world.replica.clock.now() - 1s))
      << "it is too late";
  world.sql("UPDATE tenant SET max_running = 5 RETURNING id");
  EXPECT_FALSE(write_at_once(world, id, decision, later)) << "it has a limit";
  world.sql("UPDATE tenant SET max_running = NULL RETURNING id");
  EXPECT_EQ(world.sql(kRows), "0 0 0 0") << "all or nothing";
  EXPECT_TRUE(write_at_once(world, id, decision, later));
  EXPECT_EQ(world.sql(kRows), "1 1 1 2");
  EXPECT_EQ(world.sql("SELECT opened_at = created_at FROM sandbox JOIN metered_sandbox m"
                      " ON m.sandbox = id"),
            "t");
  EXPECT_FALSE(write_at_once(world, id, decision, later)) << "an answer that was lost: it is there";
  EXPECT_EQ(world.sql(kRows), "1 1 1 2");
}

TEST(OptimisticCreates, TheJudgedAreNotAskedAboutEachTime) {
  const auto starts = std::make_shared<OptimisticCreateLimiter>();
  const TenantId tenant = TenantId::make();
  const OptimisticCreateLimiter::Instant now{};
  EXPECT_FALSE(starts->has_limits(tenant, now));
  starts->note_limits(tenant, now + 1s);
  EXPECT_TRUE(starts->has_limits(tenant, now + 2s));
  EXPECT_FALSE(starts->has_limits(tenant, now + 1s + OptimisticCreateLimiter::kBackoff));
}

TEST(OptimisticCreates, WhatIsRefusedAfterwardsIsEndedAndNoMoreIsMade) {
  World world("here");
  world.sql("UPDATE tenant SET max_running = 1 RETURNING id");
  const SandboxRecord first = world.create();
  EXPECT_EQ(code_of([&] { world.create(); }), ErrorCode::quota_exceeded);
  EXPECT_EQ(world.a->creates(), 2);
  EXPECT_EQ(world.a->alive(), 1u);
  EXPECT_TRUE(world.a->has(first.id.value));
  EXPECT_EQ(code_of([&] { world.create(); }), ErrorCode::quota_exceeded);
  EXPECT_EQ(world.a->creates(), 2) << "refused before anything was made";
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox"), "1");
}

TEST(OptimisticCreates, LimitsHoldUnderConcurrency) {
  World world("here");
  world.sql("UPDATE tenant SET max_running = 3 RETURNING id");
  const auto create = [&]() -> Task<void> {
    auto order = world.order();
    co_await world.replica.lifecycle.create(std::move(order));
  };
  const auto codes = test::at_once(20, create);
  EXPECT_EQ(codes, std::vector<ErrorCode>(17, ErrorCode::quota_exceeded));
  EXPECT_EQ(world.a->alive(), 3u);
  EXPECT_LE(world.a->creates(), 3 + OptimisticCreateLimiter::kAtOnce) << "made for nothing";
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox WHERE state = 'running'"), "3");
}

TEST(OptimisticCreates, AFailedCreateIsToldOfAsAnyOther) {
  World world("here");
  world.a->fail_creates(FakeProvider::Fault::error, ErrorCode::invalid);
  EXPECT_EQ(code_of([&] { world.create(); }), ErrorCode::invalid);
  EXPECT_EQ(world.sql("SELECT state || failure_code FROM sandbox"), "failedinvalid");
  EXPECT_EQ(world.sql("SELECT outcome || code FROM attempt"), "failedinvalid");
}

TEST(OptimisticCreates, TheNextBackendIsTriedAsEver) {
  World world("here");
  world.a->fail_creates(FakeProvider::Fault::error, ErrorCode::no_capacity);
  EXPECT_EQ(world.create().deployment, "b");
  EXPECT_EQ(
      world.sql("SELECT string_agg(deployment || outcome, ' ' ORDER BY ordinal) FROM attempt"),
      "afailed bcreated");
}

TEST(OptimisticCreates, ALostReplyIsLookedFor) {
  World world("here");
  world.a->fail_creates(FakeProvider::Fault::lost_reply, ErrorCode::timeout);
  world.b->fail_creates(FakeProvider::Fault::error, ErrorCode::no_capacity);
  EXPECT_EQ(code_of([&] { world.create(); }), ErrorCode::no_capacity);
  EXPECT_EQ(world.a->alive(), 1u);
  test::run(world.replica.reaper(1min).resolve_unknown());
  EXPECT_EQ(world.a->alive(), 0u);
}

}  // namespace
}  // namespace sandgate
