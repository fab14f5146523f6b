#include <gtest/gtest.h>

#include "gateway/sandboxes/pausing.hpp"
#include "tests/sandboxes/paying_replica.hpp"

namespace sandgate {
namespace {

using test::kPrices;
using test::PayingReplica;
using test::run;
using test::small_order;

// What a paused sandbox is set aside for once it runs again.
struct ResumeBudgets : testing::Test {
  SandboxRecord paused(Lifecycle& lifecycle) {
    const SandboxRecord box = run(lifecycle.create(small_order(world)));
    Pausing pausing(lifecycle);
    return run(pausing.pause(world.tenant, box.id, Keeps::disk));
  }
  // Empty when it was.
  std::string resume(Lifecycle& lifecycle, const SandboxRecord& box) {
    Pausing pausing(lifecycle);
    try {
      EXPECT_EQ(run(pausing.resume(world.tenant, box.id)).state, SandboxState::running);
      return "";
    } catch (const Error& error) {
      return std::string(to_string(error.code)) + ": " + error.what();
    }
  }
  std::string reserved() { return world.sql("SELECT trim_scale(reserved) FROM budget"); }

  test::World world;
};

TEST_F(ResumeBudgets, AreAskedThoughSomethingElseHasNoCover) {
  PayingReplica replica(world);
  const auto put_part = [&](const std::string& amount) {
    replica.put(world.tenant, R"({"amount":")" + amount + R"(","currency":"USD","window":"total",
      "on_exceeded":"deny","applies_to":{"metadata":{"run":"x"}}})",
                "part");
  };
  CreateOrder uncovered = small_order(world);
  uncovered.request.metadata = {{"run", "x"}};
  put_part("0.7");
  replica.put(world.tenant, "100", OnExceeded::deny);
  run(replica.lifecycle.create(uncovered));
  put_part("0.1");
  const SandboxRecord box = paused(replica.lifecycle);
  EXPECT_EQ(resume(replica.lifecycle, box), "");
  EXPECT_EQ(world.sql("SELECT held > 0.5 FROM reservation WHERE sandbox = '" + box.id.value + "'"),
            "t");
  EXPECT_EQ(world.sql("SELECT sum(held) = (SELECT reserved FROM budget WHERE name = 'main')"
                      " FROM reservation"),
            "t");
}

TEST_F(ResumeBudgets, AreNotInTheWayOfWhatIsFree) {
  PayingReplica replica(world, R"({"kind":"cost","currency":"USD",
    "effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"*","meter":"vcpu_second","unit_price":"0"}]})");
  replica.put(world.tenant, R"({"amount":"100","currency":"EUR","window":"total"})");
  const SandboxRecord box = paused(replica.lifecycle);
  EXPECT_EQ(resume(replica.lifecycle, box), "");
}

TEST_F(ResumeBudgets, ThatHaveTooLittleChangeNothing) {
  PayingReplica replica(world);
  replica.put(world.tenant, "1", OnExceeded::deny);
  const SandboxRecord box = paused(replica.lifecycle);
  const SandboxRecord other = run(replica.lifecycle.create(small_order(world)));
  const std::string before = reserved();
  EXPECT_TRUE(resume(replica.lifecycle, box).starts_with("budget_exceeded"));
  EXPECT_EQ(reserved(), before);
  EXPECT_EQ(world.row(box.id).state, SandboxState::paused);
  run(replica.lifecycle.kill(world.tenant, other.id));
  EXPECT_EQ(resume(replica.lifecycle, box), "");
}

TEST_F(ResumeBudgets, PayForAStepOfRoundingThatItBegins) {
  PayingReplica replica(world, R"({"kind":"cost","currency":"USD",
    "effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"*","meter":"vcpu_second","unit_price":"0.001","rounding":"3600"}]})");
  replica.put(world.tenant, "4.3", OnExceeded::kill);
  const SandboxRecord box = paused(replica.lifecycle);
  const auto ran = [&](const char* seconds) {
    world.sql("UPDATE metered_sandbox SET vcpu_total = " + std::string(seconds) +
              " RETURNING sandbox");
  };
  ran("3595");
  EXPECT_TRUE(resume(replica.lifecycle, box).starts_with("budget_exceeded"));
  ran("1000");
  EXPECT_EQ(resume(replica.lifecycle, box), "") << "its hour is paid";
  EXPECT_EQ(reserved(), "0");
  EXPECT_EQ(world.sql("SELECT covered_until > now() + interval '590 s' FROM reservation"), "t");
}

TEST_F(ResumeBudgets, PayForNoMoreThanTheTimeItHasLeft) {
  PayingReplica replica(world);
  replica.put(world.tenant, "1", OnExceeded::kill);
  const SandboxRecord box = paused(replica.lifecycle);
  world.sql("UPDATE sandbox SET expires_at = now() + interval '100 s' RETURNING id");
  EXPECT_EQ(resume(replica.lifecycle, box), "");
  EXPECT_EQ(world.sql("SELECT reserved BETWEEN 0.09 AND 0.101 FROM budget"), "t");
}

TEST_F(ResumeBudgets, PayForNoMoreThanTheRestOfOneThatIsPausedInTheEnd) {
  PayingReplica replica(world);
  replica.put(world.tenant, "1", OnExceeded::kill);
  const SandboxRecord box = paused(replica.lifecycle);
  replica.put(world.tenant, "0.2", OnExceeded::kill);
  const auto ends_in = [&](const char* time) {
    world.sql("UPDATE sandbox SET on_expiry = 'pause', expires_at = now() + interval '" +
              std::string(time) + "' RETURNING id");
  };
  ends_in("-1 s");
  EXPECT_TRUE(resume(replica.lifecycle, box).starts_with("budget_exceeded")) << "it begins anew";
  ends_in("100 s");
  EXPECT_EQ(resume(replica.lifecycle, box), "");
  EXPECT_EQ(world.sql("SELECT reserved BETWEEN 0.09 AND 0.101 FROM budget"), "t");
}

TEST_F(ResumeBudgets, PayForTheWholeTimeOfOneThatBeginsAnewAfterAll) {
  PayingReplica replica(world);
  replica.put(world.tenant, "1", OnExceeded::kill);
  const SandboxRecord box = paused(replica.lifecycle);
  world.sql(
      "UPDATE sandbox SET on_expiry = 'pause', expires_at = now() + interval '100 s' RETURNING id");
  // The backend takes as long.
  world.a->once_changed(
      [&] { world.sql("UPDATE sandbox SET expires_at = now() - interval '1 s' RETURNING id"); });
  EXPECT_EQ(resume(replica.lifecycle, box), "");
  EXPECT_GT(world.row(box.id).expires_at, SystemClock().now() + std::chrono::seconds(590));
  EXPECT_EQ(world.sql("SELECT reserved BETWEEN 0.59 AND 0.601 FROM budget"), "t");
}

TEST_F(ResumeBudgets, AreNotAskedTwiceForAMinimumThatIsPaid) {
  PayingReplica replica(world, R"({"kind":"cost","currency":"USD",
    "effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"*","meter":"disk_gib_second","unit_price":"0.001",
      "minimum":"100000"}]})");
  replica.put(world.tenant, "150", OnExceeded::kill);
  const SandboxRecord box = paused(replica.lifecycle);
  EXPECT_EQ(world.sql("SELECT trim_scale(spent) FROM budget"), "100");
  EXPECT_EQ(reserved(), "0");
  EXPECT_EQ(resume(replica.lifecycle, box), "");
  EXPECT_EQ(reserved(), "0");
}

}  // namespace
}  // namespace sandgate
