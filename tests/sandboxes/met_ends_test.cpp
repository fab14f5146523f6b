#include <gtest/gtest.h>

#include "gateway/sandboxes/extending.hpp"
#include "gateway/sandboxes/failure_translation.hpp"
#include "gateway/sandboxes/pausing.hpp"
#include "gateway/sandboxes/snapshots.hpp"
#include "tests/sandboxes/world.hpp"
#include "tests/support/eventually.hpp"

// A sandbox is asked for something while it is ended, or when it was and nobody wrote so.
namespace sandgate::test {
namespace {

using namespace std::chrono_literals;

// What can be asked of a sandbox that somebody is ending.
struct Verbs {
  explicit Verbs(World& world, Replica& replica)
      : lifecycle(replica.lifecycle), order(world.order()), tenant(world.tenant) {}

  Lifecycle& lifecycle;
  Extending extending{lifecycle};
  Pausing pausing{lifecycle};
  Snapshots snapshots{lifecycle};
  CreateOrder order;
  TenantId tenant;

  Task<void> ask(std::string verb, SandboxRecord box) {
    if (verb == "pause") co_await pausing.pause(tenant, box.id, Keeps::memory);
    if (verb == "resume") co_await pausing.resume(tenant, box.id);
    if (verb == "extend") co_await extending.extend(tenant, box.id, box.ttl_seconds);
    if (verb == "snapshot") co_await snapshots.take(tenant, box.id, "", Keeps::disk);
    if (verb == "fork") co_await snapshots.fork(box, order, 1);
    if (verb == "refresh") check_running((co_await lifecycle.refresh(tenant, box.id))->record);
  }
  // The state that the refusal tells; "none" without one.
  Task<std::string> refused(std::string verb, SandboxRecord box) {
    auto asking = ask(verb, box);
    const auto outcome = co_await attempt(std::move(asking));
    const auto* error = std::get_if<Error>(&outcome);
    if (!error) co_return "done";
    if (error->code != ErrorCode::conflict) co_return std::string(to_string(error->code));
    const auto& details = error->details;
    co_return details.contains("state") ? details["state"].get<std::string>() : "none";
  }
};

// A world on a machine of ours, where sandboxes that began ten seconds ago have counted something.
struct EndWorld : World {
  EndWorld() : World("here") { a->count({.cpu_micros = 1'500'000, .egress_bytes = 1 << 30}); }

  SandboxRecord create_earlier() {
    const SandboxRecord box = create();
    sql("UPDATE metered_sandbox SET opened_at = opened_at - interval '10 s', boundary = boundary -"
        " interval '10 s', observed_at = observed_at - interval '10 s' RETURNING sandbox");
    return box;
  }
  std::string told() { return sql("SELECT type FROM event_outbox ORDER BY ordinal DESC LIMIT 1"); }
  SandboxRecord create_for(const std::string& verb) {
    const SandboxRecord box = create_earlier();
    if (verb != "resume") return box;
    return run(Pausing(replica.lifecycle).pause(tenant, box.id, Keeps::memory));
  }
};

const char* const kVerbs[] = {"pause", "resume", "extend", "snapshot", "fork", "refresh"};

// A delete that has ended the sandbox and waits before its row says so; `asks` is asked for the
// verb in that moment, which lasts so long.
void meet_an_end(EndWorld& world, Replica& asks, const std::string& verb, const SandboxRecord& box,
                 std::chrono::milliseconds lasting) {
  Verbs verbs(world, asks);
  world.a->hang_kills(true);
  const Time asked = world.replica.clock.now();
  asio::thread_pool pool(2);
  auto killing = asio::co_spawn(pool, world.replica.lifecycle.kill(world.tenant, box.id, asked),
                                asio::use_future);
  EXPECT_TRUE(eventually([&] { return world.a->alive() == 0; }));
  auto asking = asio::co_spawn(pool, verbs.refused(verb, box), asio::use_future);
  run(sleep_for(lasting));
  world.a->hang_kills(false);
  EXPECT_EQ(killing.get(), EndResult::ended);
  EXPECT_EQ(asking.get(), "stopped") << verb;
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped) << verb;
  EXPECT_EQ(world.row(box.id).ended_at, asked) << verb;
  EXPECT_EQ(world.told(), "sandbox.killed") << verb;
  pool.join();
}

TEST(MetEnds, WhatMeetsOneUnderWayHearsOfTheEndAndDoesNotUndoIt) {
  for (const std::string verb : kVerbs) {
    EndWorld world;
    const SandboxRecord box = world.create_for(verb);
    run(world.replica.lifecycle.get(world.tenant, box.id));
    meet_an_end(world, world.replica, verb, box, 100ms);
    run(world.replica.meter.book_ends(*world.database));
    EXPECT_TRUE(world.charged_to_its_end(box.id)) << verb;
  }
}

TEST(MetEnds, AnotherGatewayWaitsForTheRow) {
  for (const std::string verb : kVerbs) {
    EndWorld world;
    const SandboxRecord box = world.create_for(verb);
    Replica other(world.database.url(), world.fixed("here"));
    meet_an_end(world, other, verb, box, 20ms);
  }
}

TEST(MetEnds, WhoeverMissesOneOfADeadGatewayWritesTheEnd) {
  for (const std::string verb : kVerbs) {
    EndWorld world;
    const SandboxRecord box = world.create_for(verb);
    run(world.a->finish(box.backend_id));
    Verbs verbs(world, world.replica);
    EXPECT_EQ(run(verbs.refused(verb, box)), "stopped") << verb;
    EXPECT_EQ(world.row(box.id).state, SandboxState::stopped) << verb;
    EXPECT_TRUE(world.ended_as_its_backend_says(box)) << verb;
    EXPECT_EQ(world.told(), "sandbox.killed") << verb;
    run(world.replica.meter.book_ends(*world.database));
    EXPECT_TRUE(world.charged_to_its_end(box.id)) << verb;
  }
}

// It died with a pause under way, and after the delete that met it.
TEST(MetEnds, AHalfDonePauseOfADeadGatewayIsNoLossEither) {
  for (const char* state : {"pausing", "resuming"}) {
    EndWorld world;
    const SandboxRecord box = world.create_earlier();
    world.sql("UPDATE sandbox SET state = '" + std::string(state) + "' RETURNING id");
    world.replica.cache.invalidate(box.id);
    run(world.a->finish(box.backend_id));
    EXPECT_EQ(run(world.replica.reaper(31s).recover_pausing()), 1u);
    EXPECT_EQ(world.row(box.id).state, SandboxState::stopped) << state;
    EXPECT_EQ(world.told(), "sandbox.killed") << state;
    EXPECT_FALSE(world.metered(box.id));
  }
}

// Half paused or resumed: it is ended in steps, and who was at work on it finds it gone.
TEST(MetEnds, AreNotUndoneByThePauseThatTheyMeet) {
  for (const char* state : {"pausing", "resuming"}) {
    EndWorld world;
    const SandboxRecord box = world.create_earlier();
    world.sql("UPDATE sandbox SET state = '" + std::string(state) + "' RETURNING id");
    world.replica.cache.invalidate(box.id);
    const SandboxRecord half = world.row(box.id);
    EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, box.id)), EndResult::ended);
    const auto carry_out = [&] { run(Pausing(world.replica.lifecycle).carry_out(half)); };
    EXPECT_EQ(code_of(carry_out), ErrorCode::conflict) << state;
    EXPECT_EQ(world.row(box.id).state, SandboxState::stopped) << state;
    EXPECT_EQ(world.told(), "sandbox.killed") << state;
  }
}

// Whoever notices: the tenant who asks for something, the look for deaths, or the sweep.
TEST(MetEnds, OneThatDiedIsLostSinceItsDeath) {
  for (const std::string notices : {"tenant", "look", "sweep"}) {
    EndWorld world;
    const SandboxRecord box = world.create_earlier();
    world.a->die(box.backend_id, 5s);
    Verbs verbs(world, world.replica);
    Reconciler reconciler(world.replica.lifecycle, {.every = 0ms});
    const DeploymentPtr on = world.replica.deployments.find(world.tenant, "a");
    if (notices == "tenant") {
      EXPECT_EQ(run(verbs.refused("extend", box)), "failed");
    } else if (notices == "sweep") {
      EXPECT_EQ(run(reconciler.reconcile(on))->lost, 1u);
    }
    // A second look finds nothing to do.
    for (int looks = 0; notices == "look" && looks < 2; ++looks) run(reconciler.note_deaths());
    const SandboxRecord failed = world.row(box.id);
    EXPECT_EQ(failed.state, SandboxState::failed);
    EXPECT_EQ(failed.failure->code, "backend_lost");
    EXPECT_TRUE(world.ended_as_its_backend_says(box));
    EXPECT_EQ(world.told(), "sandbox.failed");
    run(world.replica.meter.book_ends(*world.database));
    EXPECT_TRUE(world.charged_to_its_end(box.id));
    EXPECT_EQ(world.sql("SELECT count(*) FROM usage_event WHERE meter = 'active_cpu_second'"), "1")
        << "what it had counted";
  }
}

TEST(MetEnds, AFailureThatADeathExplainsTellsOfIt) {
  EndWorld world;
  const SandboxRecord box = world.create_earlier();
  const auto translated = [&]() -> Task<std::optional<Error>> {
    const Error broke(ErrorCode::unavailable, "the connection broke");
    auto translating = translate_failure(world.replica.lifecycle, world.tenant, box.id, broke);
    co_return co_await std::move(translating);
  };
  EXPECT_EQ(run(translated())->code, ErrorCode::unavailable) << "the control";
  world.a->die(box.backend_id, 5s);
  const auto died = run(translated());
  EXPECT_EQ(died->code, ErrorCode::conflict);
  EXPECT_EQ(died->details["state"], "failed");
}

// Such as a file of a sandbox that was deleted at its vendor: not the file is missing.
TEST(MetEnds, AFailureHasAVendorAskedIfTheSandboxIsThere) {
  for (const bool counts_requests : {false, true})
    for (const ErrorCode code :
         {ErrorCode::not_found, ErrorCode::unavailable, ErrorCode::conflict}) {
      World world;
      const SandboxRecord box = world.create();
      const auto translated = [&]() -> Task<std::optional<Error>> {
        Error broke(code, "the vendor answered with a status");
        broke.provider = "a";
        auto translating = translate_failure(world.replica.lifecycle, world.tenant, box.id, broke);
        co_return co_await std::move(translating);
      };
      EXPECT_EQ(run(translated())->code, code) << "it is there";
      Descriptor descriptor = world.a->descriptor();
      if (counts_requests) descriptor.min_list_interval = 120s;
      world.a->offer(descriptor);
      world.replica.deployments.refresh();
      world.a->lose(box.backend_id);
      const auto told = run(translated());
      EXPECT_EQ(told->code, counts_requests ? code : ErrorCode::conflict);
      EXPECT_EQ(told->details.contains("state"), !counts_requests);
    }
}

TEST(MetEnds, AnAgentThatIsNotThereIsNoMissingFile) {
  EndWorld world;
  const SandboxRecord box = world.create_earlier();
  const auto translated = [&]() -> Task<std::optional<Error>> {
    const Error missing = agent_missing("the agent is not there");
    auto translating = translate_failure(world.replica.lifecycle, world.tenant, box.id, missing);
    co_return co_await std::move(translating);
  };
  const auto there = run(translated());
  EXPECT_EQ(there->code, ErrorCode::unavailable) << "as long as the sandbox is";
  EXPECT_TRUE(there->details.is_null());
  std::thread node([&world, &box] {
    std::this_thread::sleep_for(20ms);
    world.a->die(box.backend_id, 0s);  // the backend takes a moment to notice
  });
  EXPECT_EQ(run(translated())->code, ErrorCode::conflict);
  node.join();
}

TEST(MetEnds, OneThatDiedStaysAFailureWhenItIsDeleted) {
  EndWorld world;
  const SandboxRecord box = world.create_earlier();
  world.a->die(box.backend_id, 5s);
  EXPECT_EQ(run(world.replica.lifecycle.kill(world.tenant, box.id)), EndResult::ended);
  EXPECT_EQ(world.row(box.id).state, SandboxState::failed);
  EXPECT_TRUE(world.ended_as_its_backend_says(box));
  run(world.replica.meter.book_ends(*world.database));
  EXPECT_TRUE(world.charged_to_its_end(box.id));
}

TEST(MetEnds, TheSweepLeavesOneUnderWayAlone) {
  EndWorld world;
  const SandboxRecord box = world.create_earlier();
  world.a->hang_kills(true);
  const Time asked = world.replica.clock.now();
  asio::thread_pool pool(1);
  auto killing = asio::co_spawn(pool, world.replica.lifecycle.kill(world.tenant, box.id, asked),
                                asio::use_future);
  EXPECT_TRUE(eventually([&] { return world.a->alive() == 0; }));
  Reconciler reconciler(world.replica.lifecycle, {.every = 0ms});
  const DeploymentPtr on = world.replica.deployments.find(world.tenant, "a");
  EXPECT_EQ(run(reconciler.reconcile(on))->lost, 0u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
  world.a->hang_kills(false);
  EXPECT_EQ(killing.get(), EndResult::ended);
  EXPECT_EQ(world.row(box.id).ended_at, asked);
  pool.join();
}

// Its reads lag behind its creates.
TEST(YoungSandboxes, AVendorIsAskedAgainBeforeOneIsLost) {
  World world;
  const SandboxRecord box = world.create();
  const auto state = [&] {
    return run(world.replica.lifecycle.refresh(world.tenant, box.id))->record.state;
  };
  world.a->lag(2);
  EXPECT_EQ(state(), SandboxState::running);
  world.sql("UPDATE sandbox SET created_at = created_at - interval '2 minutes' RETURNING id");
  world.replica.cache.invalidate(box.id);
  world.a->lag(1);
  EXPECT_EQ(state(), SandboxState::failed) << "an old one is known for good, or gone";
}

TEST(YoungSandboxes, OneThatIsGoneIsLost) {
  World world;
  const SandboxRecord box = world.create();
  world.a->lose(box.backend_id);
  EXPECT_EQ(run(world.replica.lifecycle.refresh(world.tenant, box.id))->record.state,
            SandboxState::failed);
}

}  // namespace
}  // namespace sandgate::test
