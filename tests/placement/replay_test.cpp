#include "gateway/placement/replay.hpp"

#include <gtest/gtest.h>

#include "tests/support/fake_provider.hpp"

namespace sandgate {
namespace {

using test::FakeProvider;

const TenantId kCaller{"tnaaaaaaaaaaaaaaaaaaaaaaaa"};
const Time kThen = *from_rfc3339("2026-11-02T10:00:00Z");

DeploymentPtr offered(const std::string& name) {
  auto backend = std::make_shared<FakeProvider>(name);
  return std::make_shared<const Deployment>(Deployment{
      .name = name, .provider = name, .backend = backend, .descriptor = backend->descriptor()});
}

// "a" costs 0.001 and "b" 0.003 a vCPU second; from 3 November on "a" costs ten times as much.
std::shared_ptr<const PriceSnapshot> rising_prices() {
  const auto book = [](int version, const char* from, const char* a) {
    PriceVersion made = price_version_from(
        {{"kind", "cost"},
         {"currency", "EUR"},
         {"effective_from", from},
         {"entries",
          {{{"provider", "a"}, {"meter", "vcpu_second"}, {"unit_price", a}, {"minimum", "60"}},
           {{"provider", "b"}, {"meter", "vcpu_second"}, {"unit_price", "0.003"}}}}},
        "list");
    made.id = made.version = version;
    return made;
  };
  return std::make_shared<const PriceSnapshot>(std::vector<PriceVersion>{
      book(1, "2026-11-01T00:00:00Z", "0.001"), book(2, "2026-11-03T00:00:00Z", "0.01")});
}

RecordedRequest ran_on(const std::string& deployment, int seconds, Time at = kThen) {
  return {.sandbox = SandboxId::make().value,
          .at = at,
          .deployment = deployment,
          .provider = deployment,
          .region = "eu",
          .ran = std::chrono::seconds(seconds)};
}

ReplayReport replayed(const std::function<void(Profile&)>& change,
                      const std::vector<RecordedRequest>& requests) {
  Profile draft;
  draft.name = "python";
  if (change) change(draft);
  const auto set = std::make_shared<const DeploymentSet>(DeploymentSet{offered("a"), offered("b")});
  Replay replay(draft, kCaller, set, rising_prices(), false);
  for (const RecordedRequest& one : requests) replay.add(one);
  return replay.report();
}

TEST(Replay, DecidesByThePricesOfThatTime) {
  const Time later = *from_rfc3339("2026-11-04T10:00:00Z");
  const ReplayReport report =
      replayed({}, {ran_on("b", 100), ran_on("a", 10), ran_on("a", 100, later)});
  EXPECT_EQ(report.requests, 3u);
  EXPECT_EQ(report.moved, 2u);
  EXPECT_EQ(report.deployments.at("a").before, 2u);
  EXPECT_EQ(report.deployments.at("a").after, 2u);
  EXPECT_EQ(report.deployments.at("b").after, 1u);
  // 100 s on b, the minimum of 60 s on a, 100 s on the dear a; then 100 and 60 s on a, 100 s on b.
  EXPECT_EQ(report.cost_before.to_string(), "1.36");
  EXPECT_EQ(report.cost_after.to_string(), "0.46");
  EXPECT_EQ(report.currency, "EUR");
  EXPECT_EQ(to_json(report)["cost"]["difference"], "-0.9");
}

TEST(Replay, ComparesWhatTheTenantIsCharged) {
  const auto book = [](int64_t id, const char* name, const char* kind, const char* a,
                       const char* b) {
    PriceVersion made =
        price_version_from({{"kind", kind},
                            {"currency", "EUR"},
                            {"effective_from", "2026-11-01T00:00:00Z"},
                            {"entries",
                             {{{"provider", "a"}, {"meter", "vcpu_second"}, {"unit_price", a}},
                              {{"provider", "b"}, {"meter", "vcpu_second"}, {"unit_price", b}}}}},
                           name);
    made.id = id;
    made.version = 1;
    return made;
  };
  Profile draft;
  draft.name = "python";
  const auto moved_to_b = [&](std::vector<PriceVersion> books) {
    draft.placement.only = {"b"};
    const auto set =
        std::make_shared<const DeploymentSet>(DeploymentSet{offered("a"), offered("b")});
    Replay replay(draft, kCaller, set, std::make_shared<const PriceSnapshot>(std::move(books)),
                  false);
    replay.add(ran_on("a", 100));
    return to_json(replay.report())["cost"];
  };
  const PriceVersion charges = book(1, "charge", "charge", "0.001", "0.002");
  const PriceVersion costs = book(2, "cost", "cost", "0.5", "0.1");
  EXPECT_EQ(moved_to_b({charges})["difference"], "0.1") << "no vendor's price is known";
  EXPECT_EQ(moved_to_b({charges})["compared"], 1);
  EXPECT_EQ(moved_to_b({charges, costs})["difference"], "0.1") << "however much the vendor saves";
}

TEST(Replay, RemembersWhoWasIllThen) {
  RecordedRequest one = ran_on("b", 10);
  const Json decision = {
      {"candidates",
       {{{"deployment", "a"},
         {"rejected_because", {"resting"}},
         {"latency_p50_ms", 7.5},
         {"health", {{"breaker", "closed"}, {"failure_rate", 0.25}}}},
        {{"deployment", "b"}, {"rejected_because", Json::array()}, {"health", Json::object()}}}}};
  one.health = recorded_health(decision);
  EXPECT_TRUE(one.health.at("a").resting);
  EXPECT_EQ(one.health.at("a").latency_p50_ms, 7.5);
  EXPECT_EQ(replayed({}, {one}).deployments.at("b").after, 1u);
  one.health["a"] = {.breaker = Breaker::open};
  EXPECT_EQ(replayed({}, {one}).deployments.at("b").after, 1u);
  one.health.clear();
  EXPECT_EQ(replayed({}, {one}).deployments.at("a").after, 1u);
}

TEST(Replay, TellsWhatTheDraftLeavesOutAndWhatItRefuses) {
  RecordedRequest large = ran_on("a", 10);
  large.overrides = {{"resources", {{"vcpu", 2}}}};
  const auto strong = [](Profile& p) { p.isolation = Isolation::microvm; };
  const ReplayReport report = replayed(strong, {ran_on("a", 10), ran_on("", 0), large});
  EXPECT_EQ(report.nowhere.before, 1u);
  EXPECT_EQ(report.nowhere.after, 2u);
  EXPECT_EQ(report.rejected_because.at("isolation_too_weak"), 2u);
  EXPECT_EQ(report.refused, 1u);
  EXPECT_EQ(report.left.size(), 3u);
  EXPECT_EQ(report.compared, 0u);
  const auto roomy = [](Profile& p) { p.limits.max_milli_vcpu = 2000; };
  EXPECT_EQ(replayed(roomy, {large}).refused, 0u);
}

TEST(Replay, ARestoreStaysWhereItsSnapshotIs) {
  RecordedRequest one = ran_on("b", 10);
  one.restore = true;
  one.snapshot_deployment = "b";
  EXPECT_EQ(replayed({}, {one}).moved, 0u);
  const auto only_a = [](Profile& p) { p.placement.only = {"a"}; };
  EXPECT_EQ(replayed(only_a, {one}).nowhere.after, 1u);
}

}  // namespace
}  // namespace sandgate
