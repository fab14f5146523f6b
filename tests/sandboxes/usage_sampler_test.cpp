#include "gateway/sandboxes/usage_sampler.hpp"

#include <gtest/gtest.h>

#include "tests/sandboxes/world.hpp"

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

}  // namespace
}  // namespace sandgate
