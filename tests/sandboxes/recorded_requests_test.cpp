#include "gateway/sandboxes/rows/recorded_requests.hpp"

#include <gtest/gtest.h>

#include "tests/sandboxes/world.hpp"

namespace sandgate::test {
namespace {

std::vector<RecordedRequest> recorded_in(World& world, sandbox_rows::RecordedSpan span, int most) {
  span.tenant = world.tenant;
  auto read = [=](pqxx::work& tx) { return sandbox_rows::recorded(tx, span, most); };
  return run(world.database->run(std::move(read)));
}

TEST(RecordedRequests, AreWhatWasAskedAndWhatBecameOfIt) {
  World world;
  const Time begin = SystemClock().now() - std::chrono::hours(1);
  const Time end = begin + std::chrono::hours(2);
  CreateOrder order = world.order();
  order.overrides = {{"ttl_seconds", 60}};
  const SandboxRecord first = run(world.replica.lifecycle.create(order));
  run(world.replica.lifecycle.kill(world.tenant, first.id));
  world.a->fail_creates(FakeProvider::Fault::error, ErrorCode::no_capacity);
  const SandboxRecord second = world.create();
  world.b->fail_creates(FakeProvider::Fault::error, ErrorCode::no_capacity);
  EXPECT_THROW(world.create(), Error);
  world.sql("UPDATE sandbox SET profile = 'other' WHERE deployment = '' RETURNING id");
  const auto all = recorded_in(world, {.profile = "python", .from = begin, .to = end}, 10);
  ASSERT_EQ(all.size(), 2u) << "another profile's are left out";
  EXPECT_EQ(all[0].sandbox, second.id.value) << "newest first";
  EXPECT_EQ(all[0].deployment, "b");
  EXPECT_EQ(all[1].overrides, (Json{{"ttl_seconds", 60}}));
  EXPECT_EQ(all[1].region, "eu");
  EXPECT_GT(all[1].ran.count(), 0);
  EXPECT_EQ(all[1].health.size(), 2u);
  EXPECT_FALSE(all[1].restore);
  const auto failed = recorded_in(world, {.profile = "other", .from = begin, .to = end}, 10);
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].deployment, "");
  EXPECT_EQ(failed[0].ran.count(), 0);
}

TEST(RecordedRequests, RanWithoutTheirPauses) {
  World world;
  world.create();
  const auto ran_as = [&](const std::string& set) {
    world.sql("UPDATE metered_sandbox SET milli_vcpu = 500, vcpu_total = 15, " + set +
              " RETURNING sandbox");
    const Time now = SystemClock().now();
    const sandbox_rows::RecordedSpan span{.profile = "python",
                                          .from = now - std::chrono::hours(1),
                                          .to = now + std::chrono::hours(1)};
    return recorded_in(world, span, 10).at(0).ran;
  };
  using std::chrono::seconds;
  EXPECT_EQ(ran_as("opened_at = now() - interval '100 s', boundary = now() - interval '10 s',"
                   " state = 'paused_disk'"),
            seconds(30));
  EXPECT_GE(ran_as("state = 'running'"), seconds(40));
  EXPECT_EQ(ran_as("state = 'closed', closed_as = 'running',"
                   " unbooked_end = boundary + interval '5 s'"),
            seconds(35));
  EXPECT_EQ(ran_as("closed_as = 'paused_disk'"), seconds(30));
}

TEST(RecordedRequests, ComeInPagesWithoutGapsOrRepetitions) {
  World world;
  for (int i = 0; i < 5; ++i) world.create();
  // All in the same instant: only the id tells them apart.
  world.sql("UPDATE sandbox SET created_at = '2026-11-02T10:00:00.000001Z' RETURNING id");
  sandbox_rows::RecordedSpan span{.profile = "python",
                                  .from = *from_rfc3339("2026-11-02T10:00:00Z"),
                                  .to = *from_rfc3339("2026-11-02T11:00:00Z")};
  std::set<std::string> seen;
  for (size_t size = 2; size == 2;) {
    const auto page = recorded_in(world, span, 2);
    size = page.size();
    for (const RecordedRequest& one : page) EXPECT_TRUE(seen.insert(one.sandbox).second);
    if (page.empty()) break;
    span.to = page.back().at;
    span.below = page.back().sandbox;
  }
  EXPECT_EQ(seen.size(), 5u);
}

}  // namespace
}  // namespace sandgate::test
