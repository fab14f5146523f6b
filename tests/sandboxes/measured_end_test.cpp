#include "gateway/sandboxes/ending/measured_end.hpp"

#include <gtest/gtest.h>

#include "tests/sandboxes/world.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::run;
using test::World;

constexpr Time kHere{1'000'000s};
constexpr Time::duration kOffs[] = {-24h, -3s, 0s, 3s, 24h};

TEST(MeasuredEnd, IsAsLongAgoByTheDatabasesClockAsByTheMachines) {
  for (const auto off : kOffs) {
    const auto end_of = [&](Time sampled_at) {
      const SandboxMetrics counted{.cpu_micros = 7, .egress_bytes = 8, .sampled_at = sampled_at};
      return measured_end(counted, kHere + off, kHere);
    };
    EXPECT_EQ(end_of(kHere).sampled_at, kHere + off) << "ended while it was asked";
    EXPECT_EQ(end_of(kHere - 5s).sampled_at, kHere + off - 5s) << "ended before";
    EXPECT_EQ(end_of(kHere + 1h).sampled_at, kHere + off) << "the clock was set back";
    EXPECT_EQ(end_of(kHere).active_cpu_micros, 7);
    EXPECT_EQ(end_of(kHere).egress_bytes, 8);
  }
}

// A machine of ours whose clock is not the database's; sandboxes ended five seconds before anybody
// asked to end them again.
struct SkewedWorld : World {
  explicit SkewedWorld(std::chrono::seconds off) : World("here") {
    a->count({});
    a->end_earlier(5s);
    replica.clock.ahead = off;
  }
  // It began long before, and so did all that is booked.
  SandboxRecord create_earlier() {
    const SandboxRecord box = create();
    sql("UPDATE metered_sandbox SET opened_at = opened_at - interval '60 s', boundary = boundary -"
        " interval '60 s', observed_at = observed_at - interval '60 s' RETURNING sandbox");
    return box;
  }
  // `begin`: what the clock said before anything ended it.
  void expect_end_five_seconds_ago(const SandboxRecord& box, Time begin) {
    const Time end = row(box.id).ended_at.value() + 5s;
    EXPECT_GE(end, begin - 1ms);
    EXPECT_LE(end, replica.clock.now() + 1ms);
    run(replica.meter.book_ends(*database));
    EXPECT_TRUE(charged_to_its_end(box.id));
  }
};

TEST(MeasuredEnd, ADeleteThatIsRepeatedIsChargedToTheFirst) {
  for (const auto off : {-3s, 0s, 3s}) {
    SkewedWorld world(off);
    const SandboxRecord box = world.create_earlier();
    const Time begin = world.replica.clock.now();
    run(world.replica.lifecycle.kill(world.tenant, box.id));
    world.expect_end_five_seconds_ago(box, begin);
  }
}

TEST(MeasuredEnd, ASweepWritesTheEndOfADeadGatewayByTheDatabasesClock) {
  for (const auto off : {-3s, 0s, 3s}) {
    SkewedWorld world(off);
    const SandboxRecord box = world.create_earlier();
    const Time begin = world.replica.clock.now();
    run(world.a->finish(box.backend_id));
    Reconciler reconciler(world.replica.lifecycle, {.every = 0ms});
    const DeploymentPtr on = world.replica.deployments.find(world.tenant, "a");
    EXPECT_EQ(run(reconciler.reconcile(on))->lost, 0u);
    world.expect_end_five_seconds_ago(box, begin);
  }
}

TEST(MeasuredEnd, SoDoesWhoeverMissesTheSandbox) {
  for (const auto off : {-3s, 0s, 3s}) {
    SkewedWorld world(off);
    const SandboxRecord box = world.create_earlier();
    const Time begin = world.replica.clock.now();
    run(world.a->finish(box.backend_id));
    run(world.replica.lifecycle.note_gone(box.id, "not there"));
    world.expect_end_five_seconds_ago(box, begin);
  }
}

}  // namespace
}  // namespace sandgate
