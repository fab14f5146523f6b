#include <gtest/gtest.h>

#include "gateway/core/settle.hpp"
#include "gateway/sandboxes/extending.hpp"
#include "gateway/sandboxes/upkeep/history.hpp"
#include "tests/sandboxes/world.hpp"

namespace sandgate::test {
namespace {

using Fault = FakeProvider::Fault;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Lifecycle, CreatesMetersAndKills) {
  World world;
  const SandboxRecord made = world.create();
  EXPECT_EQ(made.state, SandboxState::running);
  EXPECT_EQ(made.deployment, "a");
  EXPECT_EQ(made.isolation, Isolation::kernel) << "what it really is";
  EXPECT_TRUE(world.a->has(made.id.value));
  EXPECT_TRUE(world.metered(made.id));
  EXPECT_GE(world.a->last_spec().ttl, seconds(600));
  const Json shown = to_json(made);
  EXPECT_EQ(shown["backend"]["deployment"], "a");
  EXPECT_EQ(shown["profile"]["version"], 3);

  EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, made.id)), EndResult::ended);
  EXPECT_EQ(world.row(made.id).state, SandboxState::stopped);
  EXPECT_EQ(world.a->alive(), 0u);
  EXPECT_FALSE(world.metered(made.id));
  EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, made.id)), EndResult::ended);
  const auto foreign = [&] { run(world.replica.lifecycle.kill(TenantId::make(), made.id)); };
  EXPECT_EQ(code_of(foreign), ErrorCode::not_found);
}

TEST(Lifecycle, WhatTheVendorGivesIsShownAndMetered) {
  World world;
  const Resources given{2000, 4096, 10, 512};
  world.a->give(given);
  const SandboxRecord made = world.create();
  EXPECT_EQ(made.resources, given);
  EXPECT_EQ(world.row(made.id).resources, given);
  EXPECT_EQ(
      world.sql("SELECT concat_ws(' ', milli_vcpu, memory_mib, disk_gib) FROM metered_sandbox"),
      "2000 4096 10");
  EXPECT_NE(world.a->last_spec().resources, given) << "what was asked for";
}

TEST(Lifecycle, ACreateBelongsToTheTraceOfItsRequest) {
  World world;
  const auto trace = std::make_shared<const Trace>(Trace{"00-parent", ""});
  run(with_trace(trace, world.replica.lifecycle.create(world.order())));
  EXPECT_EQ(world.a->last_trace(), trace);
  world.create();
  EXPECT_EQ(world.a->last_trace(), nullptr);
}

TEST(Lifecycle, KeepsTheDecisionWithAttempts) {
  World world;
  world.a->fail_creates(Fault::error, ErrorCode::no_capacity);
  const SandboxRecord made = world.create();
  EXPECT_EQ(made.deployment, "b");
  auto read = [id = made.id](pqxx::work& tx) { return sandbox_rows::find_decision(tx, id); };
  const auto decision = run(world.database->run(std::move(read)));
  ASSERT_TRUE(decision);
  EXPECT_EQ((*decision)["chosen"], "b");
  EXPECT_EQ((*decision)["attempts"][0]["code"], "no_capacity");
  EXPECT_EQ((*decision)["attempts"][1]["outcome"], "created");
  EXPECT_EQ((*decision)["candidates"].size(), 2u);
}

TEST(Lifecycle, AFailedCreateLeavesAFailedRowAndNothingElse) {
  World world;
  world.a->fail_creates(Fault::error, ErrorCode::invalid);
  EXPECT_EQ(code_of([&] { world.create(); }), ErrorCode::invalid);
  EXPECT_EQ(world.sql("SELECT state FROM sandbox"), "failed");
  EXPECT_EQ(world.sql("SELECT count(*) FROM metered_sandbox"), "0");
  const auto strong = [](Profile& p) { p.isolation = Isolation::microvm; };
  EXPECT_EQ(code_of([&] { world.create(strong); }), ErrorCode::unsupported);
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox"), "1") << "nothing was intended";
}

TEST(Lifecycle, ALostReplyIsResolvedAndNotBilledTwice) {
  World world;
  world.a->fail_creates(Fault::lost_reply);
  const SandboxRecord made = world.create();
  EXPECT_EQ(made.deployment, "b");
  EXPECT_EQ(world.a->alive(), 1u) << "the orphan";
  EXPECT_EQ(run(world.replica.reaper().resolve_unknown()), 1u);
  EXPECT_EQ(world.a->alive(), 0u);
  EXPECT_EQ(world.b->alive(), 1u);
  EXPECT_EQ(world.sql("SELECT count(*) FROM attempt WHERE resolved_at IS NULL AND "
                      "outcome = 'unknown'"),
            "0");
  EXPECT_EQ(world.sql("SELECT count(*) FROM metered_sandbox"), "1");
}

TEST(Lifecycle, AHedgesLoserIsKilledAndNotBilled) {
  World world;
  world.a->fail_creates(Fault::slow, ErrorCode::unavailable, milliseconds(400));
  const auto hedged = [](Profile& p) { p.placement.fallback.hedge_after_ms = 20; };
  const SandboxRecord made = world.create(hedged);
  EXPECT_EQ(made.deployment, "b");
  EXPECT_EQ(world.sql("SELECT outcome FROM attempt WHERE deployment = 'a'"), "unknown")
      << "left to the reaper in case this gateway dies now";
  while (world.a->kills() == 0) std::this_thread::yield();
  EXPECT_EQ(run(world.replica.reaper().resolve_unknown()), 1u);
  EXPECT_EQ(world.a->creates(), 1);
  EXPECT_EQ(world.a->alive(), 0u);
  EXPECT_EQ(world.b->alive(), 1u);
  run(world.replica.lifecycle.kill(world.tenant, made.id));
  EXPECT_EQ(world.sql("SELECT string_agg(DISTINCT deployment, ',') FROM usage_event"), "b");
  EXPECT_EQ(world.sql("SELECT count(*) FROM usage_event WHERE meter = 'sandbox_created'"), "1");
}

TEST(Lifecycle, AnUnreachableBackendEndsTheChargeAndTheReaperGoesOn) {
  World world;
  const SandboxRecord made = world.create();
  world.a->refuse_kills(true);
  EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, made.id)), EndResult::stopping);
  EXPECT_EQ(world.row(made.id).state, SandboxState::stopping);
  EXPECT_FALSE(world.metered(made.id));
  world.a->refuse_kills(false);
  EXPECT_EQ(run(world.replica.reaper(seconds(5)).finish()), 1u);
  EXPECT_EQ(world.row(made.id).state, SandboxState::stopped);
  EXPECT_EQ(world.a->alive(), 0u);
  EXPECT_TRUE(world.charged_to_its_end(made.id));
}

// Some vendors delete a sandbox and answer that it failed, each time they are asked.
TEST(Lifecycle, WhatItsBackendDoesNotHaveHasEndedThoughTheKillIsRefused) {
  World world;
  const SandboxRecord asked = world.create(), due = world.create();
  world.a->refuse_kills(true);
  EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, due.id)), EndResult::stopping);
  for (const SandboxRecord& one : {asked, due}) world.a->lose(one.backend_id);
  EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, asked.id)), EndResult::ended);
  EXPECT_EQ(run(world.replica.reaper(seconds(70)).finish()), 1u);
  for (const SandboxRecord& one : {asked, due}) {
    EXPECT_EQ(world.row(one.id).state, SandboxState::stopped);
    EXPECT_TRUE(world.charged_to_its_end(one.id));
  }
}

TEST(Lifecycle, TheChargeEndsWhenTheSandboxDoes) {
  World world;
  const SandboxRecord killed = world.create(), lost = world.create();
  EXPECT_FALSE(world.charged_to_its_end(killed.id));
  run(world.replica.lifecycle.kill(world.tenant, killed.id));
  run(world.replica.lifecycle.note_gone(lost.id, "gone"));
  EXPECT_TRUE(world.charged_to_its_end(killed.id));
  EXPECT_TRUE(world.charged_to_its_end(lost.id));
}

TEST(Lifecycle, ALostOneIsChargedUntilItsTimeWasOverAtMost) {
  World world;
  const SandboxRecord late = world.create();
  world.sql(
      "UPDATE metered_sandbox SET opened_at = now() - interval '10 minutes', boundary = now() - "
      "interval '10 minutes', observed_at = now() - interval '10 minutes' RETURNING 1");
  world.sql("UPDATE sandbox SET expires_at = now() - interval '5 minutes' RETURNING 1");
  run(world.replica.lifecycle.note_gone(late.id, "gone"));
  EXPECT_EQ(world.sql("SELECT m.boundary = s.expires_at FROM metered_sandbox m"
                      " JOIN sandbox s ON s.id = m.sandbox"),
            "t");
}

TEST(Lifecycle, ConcurrentKillsAllSucceed) {
  World world;
  const SandboxRecord made = world.create();
  const auto kill = [&]() -> Task<void> {
    co_await world.replica.lifecycle.kill(world.tenant, made.id);
  };
  EXPECT_TRUE(at_once(10, kill).empty());
  EXPECT_EQ(world.row(made.id).state, SandboxState::stopped);
  EXPECT_EQ(world.sql("SELECT count(*) FROM usage_event WHERE meter = 'sandbox_created'"), "1");
}

TEST(Lifecycle, LimitsHoldUnderConcurrency) {
  World world;
  world.sql("UPDATE tenant SET max_running = 5 RETURNING id");
  const auto create = [&]() -> Task<void> {
    auto order = world.order();
    co_await world.replica.lifecycle.create(std::move(order));
  };
  const auto codes = at_once(50, create);
  EXPECT_EQ(codes.size(), 45u);
  for (const ErrorCode code : codes) EXPECT_EQ(code, ErrorCode::quota_exceeded);
  EXPECT_EQ(world.a->alive(), 5u);
  world.sql("UPDATE tenant SET max_running = NULL, creates_per_minute = 5 RETURNING id");
  EXPECT_EQ(code_of([&] { world.create(); }), ErrorCode::rate_limited);
}

TEST(Lifecycle, TellsWhenTheNextCreateIsAllowed) {
  World world;
  for (const char* age : {"50", "30", "10"}) {
    world.create();
    world.sql(std::string("UPDATE sandbox SET created_at = now() - interval '") + age +
              " seconds' WHERE created_at > now() - interval '5 seconds' RETURNING id");
  }
  // The limit is lower than what came before it.
  for (const auto& [limit, wait] : {std::pair(0, 60), {1, 50}, {2, 30}, {3, 10}}) {
    world.sql("UPDATE tenant SET creates_per_minute = " + std::to_string(limit) + " RETURNING id");
    try {
      world.create();
      ADD_FAILURE() << "created with a limit of " << limit;
    } catch (const Error& error) {
      ASSERT_TRUE(error.retry_after) << error.what();
      EXPECT_LE(*error.retry_after, seconds(wait)) << limit;
      EXPECT_GT(*error.retry_after, seconds(wait - 8)) << limit;
    }
  }
  world.sql("UPDATE tenant SET creates_per_minute = 4 RETURNING id");
  EXPECT_EQ(code_of([&] { world.create(); }), std::nullopt);
}

TEST(Lifecycle, ExtendCountsFromNowWithinTheProfilesLongest) {
  World world;
  const SandboxRecord made = world.create([](Profile& p) {
    p.ttl_seconds = 60;
    p.limits.max_ttl_seconds = 900;
  });
  const auto longer = run(Extending(world.replica.lifecycle).extend(world.tenant, made.id, 900));
  EXPECT_GT(longer.expires_at, made.expires_at + seconds(800));
  const auto beyond = [&] {
    run(Extending(world.replica.lifecycle).extend(world.tenant, made.id, 901));
  };
  EXPECT_EQ(code_of(beyond), ErrorCode::invalid);
}

TEST(Lifecycle, AnExtendThatComesTooLateTellsTheState) {
  World world;
  const SandboxRecord made = world.create();
  world.sql("UPDATE sandbox SET state = 'stopping' RETURNING id");
  try {
    run(Extending(world.replica.lifecycle).extend(world.tenant, made.id, 60));
    ADD_FAILURE() << "extended";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::conflict);
    EXPECT_EQ(error.details.value("state", ""), "stopping");
  }
}

TEST(Lifecycle, WhatCannotBeAskedIsNotKilled) {
  World world;
  const auto on_b = [](Profile& p) { p.placement.order = {"b", "a"}; };
  const SandboxRecord box = world.create(on_b);
  Replica without(world.database.url(), {world.fixed()[0]});
  EXPECT_EQ(run(without.lifecycle.kill(world.tenant, box.id)), EndResult::stopping);
  EXPECT_FALSE(world.metered(box.id)) << "its tenant is charged no more";
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopping);
  EXPECT_EQ(run(world.replica.reaper(seconds(5)).finish()), 1u) << "the deployment is back";
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
  EXPECT_EQ(world.b->alive(), 0u);
}

TEST(CachedAccess, ABackendThatHasNotSaidWhatItHasIsNotOneThatLacksIt) {
  World world;
  CachedAccess access(world.replica.lifecycle, world.replica.activity);
  const SandboxRecord made = world.create();
  Descriptor unread;
  unread.provider = "a";
  unread.known = false;
  world.a->offer(unread);
  run(world.replica.deployments.reload());
  http::Caller caller{.role = http::Role::developer, .tenant = world.tenant};
  const auto open = [&] { run(access.open(caller, made.id.value, Verb::exec)); };
  EXPECT_EQ(code_of(open), ErrorCode::unavailable);
  world.a->offer(FakeProvider::capable("a"));
  run(world.replica.deployments.reload());
  EXPECT_NO_THROW(open());
}

TEST(CachedAccess, OpensRunningSandboxesOfTheTenantOnly) {
  World world;
  CachedAccess access(world.replica.lifecycle, world.replica.activity);
  const SandboxRecord made = world.create();
  http::Caller caller{.role = http::Role::developer, .tenant = world.tenant};
  const OpenSandbox open = run(access.open(caller, made.id.value, Verb::exec));
  EXPECT_EQ(open.backend_id, made.backend_id);
  EXPECT_TRUE(world.replica.activity->used_within(made.id, std::chrono::milliseconds(0)));
  const auto ports = [&] { run(access.open(caller, made.id.value, Verb::ports)); };
  EXPECT_EQ(code_of(ports), ErrorCode::unsupported);
  http::Caller foreign{.role = http::Role::owner, .tenant = TenantId::make()};
  const auto theirs = [&] { run(access.open(foreign, made.id.value, Verb::exec)); };
  EXPECT_EQ(code_of(theirs), ErrorCode::not_found);
  run(access.report_gone(made.id, "it died"));
  const auto again = [&] { run(access.open(caller, made.id.value, Verb::exec)); };
  EXPECT_EQ(code_of(again), ErrorCode::conflict) << "it is known, and ended";
  EXPECT_EQ(world.row(made.id).state, SandboxState::failed);
}

TEST(CachedAccess, OpensNoOtherSandboxForACallerOfOne) {
  World world;
  CachedAccess access(world.replica.lifecycle, world.replica.activity);
  const SandboxRecord own = world.create(), other = world.create();
  http::Caller caller{.role = http::Role::developer, .tenant = world.tenant};
  caller.sandbox = own.id;
  EXPECT_EQ(run(access.open(caller, own.id.value, Verb::exec)).backend_id, own.backend_id);
  const auto others = [&] { run(access.open(caller, other.id.value, Verb::exec)); };
  EXPECT_EQ(code_of(others), ErrorCode::not_found);
}

TEST(CachedAccess, ASuspendedTenantLooksAtWhatRunsAndStartsNothing) {
  World world;
  CachedAccess access(world.replica.lifecycle, world.replica.activity);
  Descriptor able = FakeProvider::capable("a");
  able.verbs[Verb::background] = Keeps::nothing;
  world.a->offer(able);
  run(world.replica.deployments.reload());
  const SandboxRecord made = world.create();
  http::Caller suspended{.role = http::Role::owner, .tenant = world.tenant, .suspended = true};
  const auto open = [&](Verb verb) { run(access.open(suspended, made.id.value, verb)); };
  for (const Verb verb : {Verb::files, Verb::background, Verb::pty})
    EXPECT_EQ(code_of([&] { open(verb); }), std::nullopt) << to_string(verb);
  EXPECT_EQ(code_of([&] { open(Verb::exec); }), ErrorCode::forbidden);
}

TEST(CachedAccess, TellsAnEndFromABreak) {
  World world;
  CachedAccess access(world.replica.lifecycle, world.replica.activity);
  const SandboxRecord made = world.create();
  const auto translate = [&](TenantId tenant, ErrorCode code) -> Task<ErrorCode> {
    auto translating = access.translate_failure(tenant, made.id, Error(code, "it broke"));
    const Error told = co_await std::move(translating);
    co_return told.code;
  };
  const auto translated = [&](ErrorCode code) { return run(translate(world.tenant, code)); };
  for (const ErrorCode code : {ErrorCode::unavailable, ErrorCode::not_found, ErrorCode::timeout})
    EXPECT_EQ(translated(code), code) << "it runs";
  run(world.replica.lifecycle.kill(world.tenant, made.id));
  EXPECT_EQ(translated(ErrorCode::unavailable), ErrorCode::conflict);
  EXPECT_EQ(translated(ErrorCode::not_found), ErrorCode::conflict);
  EXPECT_EQ(translated(ErrorCode::invalid), ErrorCode::invalid) << "has another reason";
  EXPECT_EQ(run(translate(TenantId::make(), ErrorCode::unavailable)), ErrorCode::unavailable);
}

TEST(History, ForgetsWhatEndedLongAgoButNotItsUsage) {
  World world;
  const SandboxRecord old = world.create(), young = world.create(), there = world.create();
  for (const SandboxRecord& one : {old, young})
    run(world.replica.lifecycle.kill(world.tenant, one.id));
  world.sql("UPDATE sandbox SET ended_at = now() - interval '31 days' WHERE id = '" + old.id.value +
            "' RETURNING 1");
  const auto forget = [&] {
    return run(world.database->run([](pqxx::work& tx) {
      return sandbox_rows::forget_ended(tx, std::chrono::hours(24 * 30), 100);
    }));
  };
  const std::string usage = world.sql("SELECT count(*) FROM usage_event");
  EXPECT_EQ(forget(), 1u);
  EXPECT_EQ(forget(), 0u);
  for (const char* table : {"sandbox", "decision", "attempt"})
    EXPECT_EQ(world.sql("SELECT count(*) FROM " + std::string(table)), "2") << table;
  EXPECT_EQ(code_of(world.replica.lifecycle.get(world.tenant, old.id)), ErrorCode::not_found);
  EXPECT_EQ(run(world.replica.lifecycle.get(world.tenant, there.id))->record.state,
            SandboxState::running);
  EXPECT_EQ(world.sql("SELECT count(*) FROM usage_event"), usage);
}

}  // namespace
}  // namespace sandgate::test
