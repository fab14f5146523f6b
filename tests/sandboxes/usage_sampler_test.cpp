#include "gateway/sandboxes/upkeep/usage_sampler.hpp"

#include <gtest/gtest.h>

#include "tests/sandboxes/outage_world.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::run;

// A backend that counts, when it answers.
struct Silent : test::FakeProvider {
  using FakeProvider::FakeProvider;
  Task<SandboxMetrics> metrics(std::string) override {
    throw Error(code, "not now");
    co_return SandboxMetrics();
  }
  ErrorCode code = ErrorCode::unsupported;
};

TEST(UsageSampler, NotesOfABackendThatCountsWhatItCouldNotRead) {
  test::World world;
  world.create();
  const auto silent = std::make_shared<Silent>("a");
  test::Replica replica(
      world.database.url(),
      {std::make_shared<const Deployment>(Deployment{
          .name = "a", .provider = "a", .backend = silent, .descriptor = silent->descriptor()})});
  UsageSampler sampler(replica.lifecycle, {.min_age = 0s});
  const auto is_missed = [&] {
    return world.sql("SELECT counters_at = opened_at FROM metered_sandbox") == "t";
  };
  EXPECT_EQ(run(sampler.sample()), 0u);
  EXPECT_FALSE(is_missed()) << "it says that it does not count";
  silent->code = ErrorCode::timeout;
  EXPECT_EQ(run(sampler.sample()), 0u);
  EXPECT_TRUE(is_missed());
}

TEST(UsageSampler, CountsNothingBeyondAnEndThatIsYetToBeWritten) {
  test::OutageWorld world;
  const SandboxRecord box = world.create();
  world.sql(
      "UPDATE metered_sandbox SET opened_at = opened_at - interval '20 s', boundary ="
      " boundary - interval '20 s', observed_at = observed_at - interval '20 s' RETURNING 1");
  world.a->count({.cpu_micros = 1'000'000, .egress_bytes = 1 << 30});
  UsageSampler sampler(*world.lifecycle, {.min_age = 0s});
  run(world.outage->append({world.tenant, box.id, SystemClock().now(), "killed", {}, {}, {}}));
  EXPECT_EQ(run(sampler.sample()), 0u);
  EXPECT_EQ(world.settle(), 1u);
  EXPECT_EQ(world.sql("SELECT count(*) FROM usage_event WHERE meter IN ('active_cpu_second',"
                      " 'egress_gib')"),
            "0");
}

}  // namespace
}  // namespace sandgate
