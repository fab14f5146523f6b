#include "gateway/sandboxes/creating/speculative_insert.hpp"

#include <gtest/gtest.h>

#include "tests/sandboxes/world.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::code_of;
using test::FakeProvider;
using test::World;

constexpr const char* kWritten =
    "SELECT concat_ws(' ', s.state, s.deployment, backend_id, deployment_owner, s.region,"
    " expires_at = s.created_at + ttl_seconds * interval '1 s', a.outcome, a.ordinal, m.state,"
    " m.opened_at >= s.created_at, m.profile = s.profile, m.milli_vcpu = s.milli_vcpu,"
    " (SELECT string_agg(type, ' ' ORDER BY ordinal) FROM event_outbox))"
    " FROM sandbox s JOIN attempt a ON a.sandbox = s.id"
    " JOIN metered_sandbox m ON m.sandbox = s.id JOIN decision d ON d.id = s.decision";
constexpr const char* kAsEver =
    "running a fake-1  eu t created 1 running t t t sandbox.created sandbox.running";

TEST(SpeculativeInsert, LeavesWhatAnyCreateLeaves) {
  for (const char* foreseen : {"", "fake-1", "fake-7"}) {
    World world("here");
    world.a->foresee(foreseen);
    const SandboxRecord made = world.create();
    EXPECT_EQ(made.backend_id, "fake-1") << foreseen;
    EXPECT_EQ(world.sql(kWritten), kAsEver) << foreseen;
    EXPECT_EQ(world.a->alive(), 1u) << foreseen;
  }
}

// Only what is written beside the backend was begun before it answered. A busy machine may begin
// one too late.
TEST(SpeculativeInsert, IsBegunBeforeTheBackendAnswers) {
  World world("here");
  world.a->fail_creates(FakeProvider::Fault::slow, ErrorCode::internal, 25ms);
  std::string ahead = "0";
  for (int i = 1; i <= 20 && ahead == "0"; ++i) {
    world.a->foresee("fake-" + std::to_string(i));
    world.create();
    ahead = world.sql(
        "SELECT count(*) FROM sandbox JOIN metered_sandbox m ON m.sandbox = id"
        " WHERE m.opened_at - created_at > interval '15 ms'");
  }
  EXPECT_NE(ahead, "0") << "and its time begins when it runs";
}

TEST(SpeculativeInsert, DoesNotWaitForABackendThatTakesItsTime) {
  World world("here");
  world.a->foresee("fake-1");
  world.a->fail_creates(FakeProvider::Fault::slow, ErrorCode::internal,
                        3 * SpeculativeInsert::kWait);
  EXPECT_EQ(world.create().backend_id, "fake-1");
  EXPECT_EQ(world.sql(kWritten), kAsEver);
}

TEST(SpeculativeInsert, LeavesNothingOfABackendThatFails) {
  World world("here");
  world.a->foresee("fake-1");
  world.a->fail_creates(FakeProvider::Fault::error, ErrorCode::invalid);
  EXPECT_EQ(code_of([&] { world.create(); }), ErrorCode::invalid);
  EXPECT_EQ(world.sql("SELECT state || failure_code FROM sandbox"), "failedinvalid");
  EXPECT_EQ(world.sql("SELECT outcome || code FROM attempt"), "failedinvalid");
  EXPECT_EQ(world.sql("SELECT count(*) FROM metered_sandbox"), "0");
}

TEST(SpeculativeInsert, IsOfTheBackendThatTookIt) {
  World world("here");
  world.a->foresee("fake-1");
  world.a->fail_creates(FakeProvider::Fault::error, ErrorCode::no_capacity);
  EXPECT_EQ(world.create().deployment, "b");
  EXPECT_EQ(world.sql("SELECT string_agg(deployment || outcome, ' ' ORDER BY ordinal)"
                      " FROM attempt"),
            "afailed bcreated");
}

TEST(SpeculativeInsert, HoldsToLimits) {
  World world("here");
  world.sql("UPDATE tenant SET max_running = 1 RETURNING id");
  world.a->foresee("fake-1");
  const SandboxRecord first = world.create();
  world.a->foresee("fake-2");
  EXPECT_EQ(code_of([&] { world.create(); }), ErrorCode::quota_exceeded);
  EXPECT_EQ(world.a->alive(), 1u);
  EXPECT_TRUE(world.a->has(first.id.value));
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox"), "1");
}

TEST(SpeculativeInsert, IsForOneCreateOfATenantAndFewAtOnce) {
  const auto starts = std::make_shared<OptimisticCreateLimiter>();
  const TenantId one = TenantId::make(), other = TenantId::make();
  EXPECT_FALSE(starts->hold_connection(one, 9)) << "nothing of it is under way";
  const auto first = starts->take(one, SandboxId::make());
  auto held = starts->hold_connection(one, 1);
  EXPECT_TRUE(held);
  const auto foreign = starts->take(other, SandboxId::make());
  EXPECT_FALSE(starts->hold_connection(other, 1)) << "no more than that at once";
  held.reset();
  EXPECT_TRUE(starts->hold_connection(other, 1));
  const auto second = starts->take(one, SandboxId::make());
  EXPECT_FALSE(starts->hold_connection(one, 9)) << "it has another under way";
}

}  // namespace
}  // namespace sandgate
