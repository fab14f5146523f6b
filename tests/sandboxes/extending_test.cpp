#include <gtest/gtest.h>

#include "gateway/sandboxes/extending.hpp"
#include "gateway/sandboxes/pausing.hpp"
#include "tests/sandboxes/world.hpp"

namespace sandgate::test {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr int64_t kTtl = 600, kLonger = 900;

struct ExtendingWorld : testing::Test {
  SandboxRecord create(EndAction on_expiry) {
    return world.create([on_expiry](Profile& profile) {
      profile.ttl_seconds = kTtl;
      profile.limits.max_ttl_seconds = kLonger;
      profile.on_expiry = on_expiry;
    });
  }
  SandboxRecord extend(const SandboxRecord& box, int64_t ttl_seconds = kLonger) {
    return run(extending.extend(world.tenant, box.id, ttl_seconds));
  }
  void pause(const SandboxRecord& box) { run(pausing.pause(world.tenant, box.id, Keeps::memory)); }

  World world;
  Extending extending{world.replica.lifecycle};
  Pausing pausing{world.replica.lifecycle};
};

TEST_F(ExtendingWorld, TheBackendOfOneThatRunsIsToldALittleMore) {
  const SandboxRecord box = create(EndAction::pause);
  EXPECT_EQ(extend(box).ttl_seconds, kLonger);
  EXPECT_GE(world.a->last_extension(), seconds(kLonger));
  EXPECT_LT(world.a->last_extension(), hours(1)) << "its second line";
}

// Whatever becomes of the row, it does not end what the row still promises.
TEST_F(ExtendingWorld, ABackendIsToldNothingShorter) {
  const SandboxRecord box = create(EndAction::kill);
  EXPECT_EQ(extend(box, 60).ttl_seconds, 60);
  EXPECT_EQ(world.a->last_extension(), seconds(0));
  EXPECT_LT(world.row(box.id).expires_at, box.expires_at);
  EXPECT_EQ(extend(box).ttl_seconds, kLonger);
  EXPECT_GE(world.a->last_extension(), seconds(kLonger));
}

TEST_F(ExtendingWorld, AMachineWithoutRoomIsUnavailable) {
  const SandboxRecord box = create(EndAction::kill);
  world.a->fail_extends(ErrorCode::no_capacity);
  EXPECT_EQ(code_of([&] { extend(box); }), ErrorCode::unavailable);
  EXPECT_EQ(world.row(box.id).ttl_seconds, kTtl);
  world.a->fail_extends(std::nullopt);
  EXPECT_EQ(extend(box).ttl_seconds, kLonger);
}

TEST_F(ExtendingWorld, TheLastOfTwoExtendsIsWhatTheBackendHeardLast) {
  const SandboxRecord box = create(EndAction::kill);
  // One through another gateway, while this one's is under way.
  world.a->once_changed([&] {
    world.sql("UPDATE sandbox SET expires_at = expires_at + interval '2 minutes' RETURNING id");
  });
  EXPECT_EQ(extend(box).ttl_seconds, kLonger);
  EXPECT_EQ(world.a->extensions(), 2);
}

TEST_F(ExtendingWorld, APauseThatComesBetweenKeepsItsTimeAtTheBackend) {
  const SandboxRecord box = create(EndAction::pause);
  // Through another gateway, from begin to end, while this extend is under way.
  world.a->once_changed(
      [&] { world.sql("UPDATE sandbox SET state = 'paused', kept = 'memory' RETURNING id"); });
  EXPECT_EQ(extend(box).state, SandboxState::paused);
  EXPECT_EQ(world.a->extensions(), 2);
  EXPECT_GT(world.a->last_extension(), hours(24 * 300)) << "it would have ended it";
}

TEST_F(ExtendingWorld, OneToBePausedIsNotExtendedToWhereItsBackendWouldEndIt) {
  Descriptor limited = world.a->descriptor();
  limited.limits.max_ttl_seconds = kLonger;
  world.a->offer(limited);
  world.replica.deployments.refresh();
  EXPECT_EQ(extend(create(EndAction::kill)).ttl_seconds, kLonger);
  const SandboxRecord box = create(EndAction::pause);
  EXPECT_EQ(code_of([&] { extend(box); }), ErrorCode::invalid);
  EXPECT_EQ(extend(box, kLonger - 60).ttl_seconds, kLonger - 60);
}

TEST_F(ExtendingWorld, TheBackendOfOneThatWaitsPausedGoesOnKeepingIt) {
  const SandboxRecord box = create(EndAction::pause);
  pause(box);
  const seconds kept = world.a->last_extension();
  EXPECT_GT(kept, hours(24 * 300));
  const SandboxRecord longer = extend(box);
  EXPECT_EQ(longer.state, SandboxState::paused);
  EXPECT_EQ(longer.ttl_seconds, kLonger);
  EXPECT_EQ(world.a->last_extension(), kept) << "it would have ended it";
  run(pausing.resume(world.tenant, box.id));
  EXPECT_LT(world.a->last_extension(), hours(1)) << "it runs again";
}

// A minute after the pause its own time would be over.
TEST_F(ExtendingWorld, ABackendThatKeepsNothingForAYearKeepsAsLongAsItDoes) {
  const seconds most = hours(24);
  Descriptor limited = world.a->descriptor();
  limited.limits.max_ttl_seconds = most.count();
  world.a->offer(limited);
  world.a->refuse_times_beyond(most);
  world.replica.deployments.refresh();
  pause(create(EndAction::pause));
  EXPECT_EQ(world.a->last_extension(), most);
}

// An extend that waits for the row would be undone there otherwise.
TEST_F(ExtendingWorld, TheBackendHearsThatItRunsAgainBeforeItsRowSaysSo) {
  const SandboxRecord box = create(EndAction::pause);
  world.sql(
      "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
      "$$BEGIN RAISE EXCEPTION 'refused'; END$$");
  world.sql(
      "CREATE TRIGGER refusing BEFORE UPDATE ON sandbox FOR EACH ROW"
      " WHEN (OLD.state <> 'running' AND NEW.state = 'running') EXECUTE FUNCTION refuse()");
  world.a->fail_states(FakeProvider::Fault::error, ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { pause(box); }), ErrorCode::internal);
  EXPECT_LT(world.a->last_extension(), hours(1)) << "the pause was refused";
  world.a->fail_states(FakeProvider::Fault::none);
  // The reaper leaves out a row that is being written.
  run(world.replica.lifecycle.transitions().wait_until_unmarked(box.id));
  run(world.replica.reaper(seconds(600)).finish_pausing());
  EXPECT_EQ(world.row(box.id).state, SandboxState::paused);
  EXPECT_GT(world.a->last_extension(), hours(24 * 300));
  EXPECT_EQ(code_of([&] { run(pausing.resume(world.tenant, box.id)); }), ErrorCode::internal);
  EXPECT_LT(world.a->last_extension(), hours(1));
}

TEST_F(ExtendingWorld, TheBackendOfOneThatIsPausedAgainGoesOnKeepingIt) {
  const SandboxRecord box = create(EndAction::pause);
  pause(box);
  // Another gateway resumed it as well, was first, and paused it.
  world.a->once_changed([&] { world.sql("UPDATE sandbox SET state = 'paused' RETURNING id"); });
  EXPECT_EQ(code_of([&] { run(pausing.resume(world.tenant, box.id)); }), ErrorCode::conflict);
  EXPECT_GT(world.a->last_extension(), hours(24 * 300));
}

TEST_F(ExtendingWorld, TheBackendOfOneThatEndsPausedIsToldWhen) {
  const SandboxRecord box = create(EndAction::kill);
  pause(box);
  extend(box);
  EXPECT_GE(world.a->last_extension(), seconds(kLonger));
  EXPECT_LT(world.a->last_extension(), hours(1));
}

TEST_F(ExtendingWorld, ABackendThatKeepsNoneForSoLongRefusesNothing) {
  const SandboxRecord box = create(EndAction::pause);
  world.a->refuse_times_beyond(hours(24));
  pause(box);
  const SandboxRecord longer = extend(box);
  EXPECT_EQ(longer.ttl_seconds, kLonger);
  EXPECT_EQ(world.a->last_extension(), seconds(0)) << "nothing shorter either";
}

TEST_F(ExtendingWorld, ABackendThatKeepsJustTheTimeAskedForIsAskedForNoMore) {
  const SandboxRecord box = create(EndAction::kill);
  world.a->refuse_times_beyond(seconds(kLonger));
  EXPECT_EQ(extend(box).ttl_seconds, kLonger);
  EXPECT_EQ(world.a->last_extension(), seconds(kLonger));
  world.a->refuse_times_beyond(seconds(kLonger - 1));
  EXPECT_EQ(code_of([&] { extend(box); }), ErrorCode::invalid);
}

TEST_F(ExtendingWorld, AnEndThatTheBackendDoesNotMoveIsNoNewEnd) {
  Descriptor fixed = FakeProvider::capable("a");
  fixed.fixed_lifetime = seconds(kLonger - 1);
  world.a->offer(fixed);
  run(world.replica.deployments.reload());
  const SandboxRecord box = create(EndAction::kill);
  try {
    extend(box);
    FAIL() << "it was extended";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::invalid);
    EXPECT_EQ(error.fields.at(0).path, "/ttl_seconds");
  }
  EXPECT_EQ(world.row(box.id).expires_at, box.expires_at);
  EXPECT_EQ(run(Extending(world.replica.lifecycle).extend(world.tenant, box.id, kTtl)).ttl_seconds,
            kTtl);
}

// Others that pause and resume it, faster each time.
TEST_F(ExtendingWorld, WhoAlwaysComesTooLateIsToldToTryAgain) {
  const SandboxRecord box = create(EndAction::kill);
  world.sql(
      "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'");
  world.sql(
      "CREATE TRIGGER faster BEFORE UPDATE ON sandbox FOR EACH ROW"
      " WHEN (NEW.ttl_seconds <> OLD.ttl_seconds) EXECUTE FUNCTION nothing()");
  try {
    extend(box);
    FAIL() << "it was extended";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::conflict);
    EXPECT_TRUE(error.retry_after);
    EXPECT_TRUE(error.details.is_null()) << "its state is no reason: " << error.details;
  }
}

TEST_F(ExtendingWorld, OneThatItsBackendLostIsToldOfWhilePausedToo) {
  const SandboxRecord box = create(EndAction::pause);
  pause(box);
  world.a->lose(box.backend_id);
  EXPECT_EQ(code_of([&] { extend(box); }), ErrorCode::conflict);
  EXPECT_EQ(world.row(box.id).state, SandboxState::failed);
}

}  // namespace
}  // namespace sandgate::test
