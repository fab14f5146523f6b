#include <gtest/gtest.h>

#include "gateway/sandboxes/failure_translation.hpp"
#include "gateway/sandboxes/upkeep/budget_enforcer.hpp"
#include "tests/sandboxes/outage_world.hpp"
#include "tests/sandboxes/pausing_world.hpp"
#include "tests/sandboxes/paying_replica.hpp"

// Why a sandbox ended, as it is shown and as calls on it are told.
namespace sandgate::test {
namespace {

using std::chrono::seconds;

std::string shown(World& world, const SandboxRecord& box) {
  return to_json(world.row(box.id)).value("ended_reason", "none");
}

std::string told(World& world, const SandboxRecord& box) {
  CachedAccess access(world.replica.lifecycle, world.replica.activity);
  const http::Caller caller{.role = http::Role::developer, .tenant = world.tenant};
  try {
    run(access.open(caller, box.id.value, Verb::exec));
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::conflict);
    EXPECT_EQ(error.details.value("state", ""), to_string(world.row(box.id).state));
    return error.what();
  }
  return "";
}

TEST(EndedReasons, ACallIsOneAndALivingSandboxHasNone) {
  World world;
  const SandboxRecord box = world.create();
  EXPECT_EQ(shown(world, box), "none");
  run(world.replica.lifecycle.kill(world.tenant, box.id));
  EXPECT_EQ(shown(world, box), "killed");
  EXPECT_EQ(told(world, box), "the sandbox was ended by a call");
}

TEST(EndedReasons, TimeAndIdlenessAreToldApart) {
  World world;
  const SandboxRecord idle = world.create([](Profile& p) { p.idle_timeout_seconds = 300; });
  world.sql("UPDATE sandbox SET last_active_at = now() - interval '1 hour' RETURNING id");
  EXPECT_EQ(run(world.replica.reaper().end_idle()), 1u);
  EXPECT_EQ(shown(world, idle), "idle");
  EXPECT_EQ(told(world, idle), "the sandbox ended after 300 s without use");
  const SandboxRecord old = world.create();
  EXPECT_EQ(run(world.replica.reaper(seconds(601)).expire()), 1u);
  EXPECT_EQ(shown(world, old), "expired");
  EXPECT_EQ(told(world, old), "the sandbox ended when its time to live was over");
}

// A program that runs when the time is over breaks off before the end is complete.
TEST(EndedReasons, AnEndUnderWayTellsItsReasonToo) {
  World world;
  const SandboxRecord box = world.create();
  world.a->refuse_kills(true);
  run(world.replica.reaper(seconds(601)).expire());
  ASSERT_EQ(world.row(box.id).state, SandboxState::stopping);
  EXPECT_EQ(shown(world, box), "expired");
  EXPECT_EQ(told(world, box), "the sandbox ended when its time to live was over");
}

using PausingEnds = PausingWorld;

TEST_F(PausingEnds, OneThatWasToBePausedAndCouldNotEndsForWhatItWasToBePaused) {
  world.a->fail_states(FakeProvider::Fault::error, ErrorCode::unsupported);
  const auto pauses = [](Profile& p) {
    p.idle_timeout_seconds = 300;
    p.on_idle = p.on_expiry = EndAction::pause;
  };
  const SandboxRecord old = world.create(pauses);
  world.sql("UPDATE sandbox SET expires_at = now() - interval '1 minute' RETURNING id");
  run(world.replica.reaper().pause_due());
  EXPECT_EQ(shown(world, old), "expired");
  const SandboxRecord idle = world.create(pauses);
  world.sql("UPDATE sandbox SET last_active_at = now() - interval '1 hour' WHERE id = '" +
            idle.id.value + "' RETURNING id");
  run(world.replica.reaper().pause_due());
  EXPECT_EQ(shown(world, idle), "idle");
}

TEST(EndedReasons, ALossSaysWhatFailed) {
  World world;
  const SandboxRecord box = world.create();
  run(world.replica.lifecycle.note_gone(box.id, "it died"));
  EXPECT_EQ(shown(world, box), "failed");
  EXPECT_EQ(told(world, box), "the sandbox failed: it died");
}

TEST(EndedReasons, ABudgetIsNoCall) {
  World world;
  PayingReplica replica(world);
  for (const OnExceeded action : {OnExceeded::kill, OnExceeded::pause}) {
    replica.put(world.tenant, "9", action);
    const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
    replica.put(world.tenant, "0", action);
    BudgetEnforcer enforcer(replica.budgets, replica.lifecycle);  // which can pause nothing
    enforce(enforcer);
    EXPECT_EQ(shown(world, box), "budget") << to_string(action);
    EXPECT_EQ(told(world, box), "the sandbox was ended since its budget was used up");
  }
}

TEST(EndedReasons, AnEndThatOnlyTheJournalKnowsHasOneToo) {
  OutageWorld world;
  const SandboxRecord idle = world.create([](Profile& p) { p.idle_timeout_seconds = 300; });
  const SandboxRecord lost = world.create();
  const auto shown = [&](const SandboxRecord& box) {
    return Json::parse(run(world.lifecycle->get(world.tenant, box.id))->body)
        .value("ended_reason", "none");
  };
  const auto told = [&](const SandboxRecord& box) {
    const Error gone(ErrorCode::not_found, "the backend has no such sandbox");
    auto translate = [&]() -> Task<std::optional<Error>> {
      auto translating = translate_failure(*world.lifecycle, world.tenant, box.id, gone);
      co_return co_await std::move(translating);
    };
    return run(translate()).value();
  };
  EXPECT_EQ(shown(idle), "none");
  const Time at = SystemClock().now();
  run(world.outage->append({world.tenant, idle.id, at, "idle", {}, {}, {}}));
  run(world.outage->append({world.tenant, idle.id, at, "killed", {}, {}, at}));
  run(world.outage->append({world.tenant, lost.id, at, "failed", {}, {}, {}}));
  for (int life = 0; life < 2; ++life, world.reopen()) {
    EXPECT_EQ(shown(idle), "idle") << "the first end counts";
    EXPECT_STREQ(told(idle).what(), "the sandbox ended after 300 s without use");
    EXPECT_EQ(shown(lost), "failed");
    EXPECT_EQ(told(lost).details.value("state", ""), "failed");
  }
  EXPECT_EQ(run(world.outage->replay(*world.lifecycle)), 3u);
  EXPECT_EQ(shown(idle), "idle");
}

// A world whose backends tell by which rule of theirs a sandbox ended.
struct RulingWorld : World {
  RulingWorld() {
    Descriptor descriptor = a->descriptor();
    descriptor.tells_ends = true;
    a->offer(descriptor);
    telling_replica = std::make_unique<Replica>(database.url(), fixed());
    run(telling_replica->prices.load());
  }
  SandboxRecord ended(const RuledEnd& end, EndAction wanted = EndAction::kill) {
    const SandboxRecord box = create([wanted](Profile& p) { p.on_expiry = p.on_idle = wanted; });
    a->end_by_rule(box.backend_id, end);
    return box;
  }
  void sweep() {
    Reconciler reconciler(telling_replica->lifecycle, {.every = std::chrono::milliseconds(0)});
    run(reconciler.reconcile(telling_replica->deployments.find(tenant, "a")));
  }

  std::unique_ptr<Replica> telling_replica;
};

TEST(EndedReasons, ARuleOfTheBackendIsOne) {
  RulingWorld world;
  const SandboxRecord idle = world.ended({.idle = true, .at = SystemClock().now()});
  const SandboxRecord old = world.ended({.idle = false});
  const SandboxRecord to_pause = world.ended({.idle = false}, EndAction::pause);
  world.sweep();
  EXPECT_EQ(shown(world, idle), "idle");
  EXPECT_EQ(world.row(idle.id).state, SandboxState::stopped);
  world.replica.cache.invalidate(idle.id);
  EXPECT_EQ(told(world, idle), "the sandbox ended after 300 s without use");
  EXPECT_EQ(shown(world, old), "expired");
  EXPECT_EQ(shown(world, to_pause), "failed") << "nobody wanted its end";
  const SandboxRecord asked = world.ended({.idle = true});
  run(world.telling_replica->lifecycle.refresh(world.tenant, asked.id));
  EXPECT_EQ(shown(world, asked), "idle");
}

}  // namespace
}  // namespace sandgate::test
