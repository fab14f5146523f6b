#include "tests/sandboxes/pausing_world.hpp"

namespace sandgate::test {
namespace {

using Fault = FakeProvider::Fault;
using std::chrono::seconds;

using PausingToWait = PausingWorld;

// A clock that whoever does not come to an end looks at too often.
struct PatientClock : Clock {
  Time now() const override {
    if (++looks > 20) throw Error(ErrorCode::internal, "it goes on and on");
    return SystemClock().now();
  }
  mutable int looks = 0;
};

TEST_F(PausingToWait, APauseMayAskThatTimeStandsStill) {
  const SandboxRecord box = world.create([](Profile& p) { p.ttl_seconds = 60; });
  EXPECT_TRUE(waits_paused(pause_to_wait(box)));
  EXPECT_GT(world.a->last_extension(), std::chrono::hours(24 * 300)) << "its backend keeps it too";
  world.sql("UPDATE sandbox SET expires_at = now() - interval '1 hour' RETURNING id");
  EXPECT_EQ(run(world.replica.reaper(seconds(100)).expire()), 0u);
  EXPECT_EQ(pause(box).state, SandboxState::paused);
  const SandboxRecord resumed = resume(box);
  EXPECT_GT(resumed.expires_at, box.created_at + seconds(50)) << "its time begins again";
  EXPECT_EQ(resumed.on_expiry, EndAction::kill);
  EXPECT_FALSE(resumed.kill_once_resumed);
  pause(box);
  EXPECT_EQ(run(world.replica.reaper(seconds(100)).expire()), 1u) << "the next one did not ask";
  EXPECT_EQ(metered(box), "closed");
}

// Else its backend would end what was told to be kept.
TEST_F(PausingToWait, ABackendThatDoesNotAnswerIsToldAgainHowLongToKeepIt) {
  for (const ErrorCode lost : {ErrorCode::unavailable, ErrorCode::timeout}) {
    const SandboxRecord box = world.create([](Profile& p) { p.ttl_seconds = 60; });
    world.a->fail_extends(lost, 3);
    EXPECT_TRUE(waits_paused(pause_to_wait(box)));
    EXPECT_GT(world.a->last_extension(), std::chrono::hours(24 * 300));
    resume(box);
    EXPECT_LT(world.a->last_extension(), seconds(121)) << "as of now it counts again";
  }
}

// Else it would keep for a year what its gateway, if that is gone, does not end.
TEST_F(PausingToWait, ABackendThatDoesNotAnswerIsToldAgainThatTimeCounts) {
  for (const ErrorCode lost : {ErrorCode::unavailable, ErrorCode::timeout}) {
    const SandboxRecord box = world.create([](Profile& p) { p.ttl_seconds = 60; });
    pause_to_wait(box);
    world.a->fail_extends(lost, 3);
    EXPECT_EQ(resume(box).state, SandboxState::running);
    EXPECT_LT(world.a->last_extension(), seconds(121));
  }
}

TEST_F(PausingToWait, OneThatWaitedIsGivenItsWholeTime) {
  const SandboxRecord box = world.create([](Profile& p) { p.ttl_seconds = 60; });
  pause_to_wait(box);
  world.sql("UPDATE sandbox SET expires_at = now() + interval '5 seconds' RETURNING id");
  EXPECT_GT(resume(box).expires_at, box.created_at + seconds(50));
}

TEST_F(PausingToWait, ARefusedPauseToWaitChangesNothing) {
  const SandboxRecord box = world.create([](Profile& p) { p.ttl_seconds = 60; });
  world.a->fail_states(Fault::error, ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { pause_to_wait(box); }), ErrorCode::conflict);
  EXPECT_EQ(world.row(box.id).on_expiry, EndAction::kill);
  EXPECT_FALSE(world.row(box.id).kill_once_resumed);
  world.a->fail_states(Fault::none);
  pause_to_wait(box);
  world.a->fail_states(Fault::error, ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { resume(box); }), ErrorCode::conflict);
  EXPECT_TRUE(waits_paused(world.row(box.id))) << "it goes on waiting";
  world.a->fail_states(Fault::none);
  EXPECT_EQ(resume(box).on_expiry, EndAction::kill);
}

// Else nothing would end it there if this gateway did not.
TEST_F(PausingToWait, ARefusedPauseLeavesTheBackendItsTime) {
  const auto pausing_in_the_end = [](Profile& p) {
    p.ttl_seconds = 600;
    p.on_expiry = EndAction::pause;
  };
  const SandboxRecord box = world.create(pausing_in_the_end),
                      due = world.create(pausing_in_the_end);
  world.a->fail_states(Fault::error, ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { pause(box); }), ErrorCode::conflict);
  EXPECT_GT(world.a->last_extension(), seconds(600));
  EXPECT_LE(world.a->last_extension(), seconds(661));
  world.sql("UPDATE sandbox SET expires_at = now() - interval '1 hour' WHERE id = '" +
            due.id.value + "' RETURNING id");
  EXPECT_EQ(code_of([&] { pause(due); }), ErrorCode::conflict);
  EXPECT_GE(world.a->last_extension(), seconds(300)) << "it is to be paused yet";
  EXPECT_LT(world.a->last_extension(), std::chrono::hours(1));
}

TEST_F(PausingToWait, AProfileThatPausesAtTheEndGoesOnDoingSo) {
  const SandboxRecord box = world.create([](Profile& p) { p.on_expiry = EndAction::pause; });
  EXPECT_FALSE(pause_to_wait(box).kill_once_resumed);
  EXPECT_EQ(resume(box).on_expiry, EndAction::pause);
}

// Money is set aside up to there, and the gateway may be late.
TEST_F(PausingWorld, WhatIsPausedLateIsChargedAsRunningUpToTheEndOfItsTime) {
  world.create([](Profile& p) { p.on_expiry = EndAction::pause; });
  world.sql(
      "UPDATE metered_sandbox SET opened_at = now() - interval '1 minute',"
      " boundary = now() - interval '1 minute' RETURNING sandbox");
  world.sql("UPDATE sandbox SET expires_at = now() - interval '20 seconds' RETURNING id");
  EXPECT_EQ(run(world.replica.reaper().pause_due()), 1u);
  EXPECT_EQ(
      world.sql("SELECT (max(interval_end) = max(expires_at), max(boundary) = max(expires_at),"
                " max(m.state)) FROM usage_event u JOIN sandbox s ON s.id = u.sandbox"
                " JOIN metered_sandbox m ON m.sandbox = s.id WHERE meter = 'vcpu_second'"),
      "(t,t,paused_disk)");
}

// A vendor may take minutes for the archive of a paused sandbox, or not answer.
TEST_F(PausingWorld, WhatIsNotPausedYetThoughItsTimeIsOverIsBookedOnce) {
  world.create([](Profile& p) { p.on_expiry = EndAction::pause; });
  world.sql(
      "UPDATE metered_sandbox SET opened_at = now() - interval '5 minutes',"
      " boundary = now() - interval '5 minutes' RETURNING sandbox");
  world.sql("UPDATE sandbox SET expires_at = now() - interval '2 minutes' RETURNING id");
  PatientClock clock;
  Meter meter(world.replica.prices, &clock);
  EXPECT_GT(run(meter.flush(*world.database)), 0u);
  EXPECT_EQ(run(meter.flush_tenant(*world.database, world.tenant)), 0u);
}

// Of processor time as well, which is counted by the backend.
TEST_F(PausingWorld, WhatIsCountedBetweenTheEndOfItsTimeAndALatePauseIsNotCharged) {
  const SandboxRecord box = world.create([](Profile& p) { p.on_expiry = EndAction::pause; });
  world.sql(
      "UPDATE metered_sandbox SET opened_at = now() - interval '10 minutes', boundary = now()"
      " - interval '10 minutes', observed_at = now() - interval '10 minutes' RETURNING sandbox");
  world.sql("UPDATE sandbox SET expires_at = now() - interval '5 minutes' RETURNING id");
  const auto count = [&](std::chrono::seconds busy) {
    run(world.database->run([&](pqxx::work& tx) {
      const auto micros = std::chrono::microseconds(busy).count();
      world.replica.meter.observe(tx, box.id, {std::nullopt, micros, SystemClock().now()});
    }));
    return world.sql(
        "SELECT trim_scale(round(sum(quantity))) FROM usage_event WHERE meter ="
        " 'active_cpu_second'");
  };
  EXPECT_EQ(count(seconds(600)), "300");
  EXPECT_EQ(count(seconds(660)), "300");
  EXPECT_EQ(run(world.replica.reaper().pause_due()), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::paused);
  resume(box);
  EXPECT_EQ(count(seconds(720)), "300") << "it ran for no second more";
}

}  // namespace
}  // namespace sandgate::test
