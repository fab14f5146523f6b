#include <gtest/gtest.h>

#include "gateway/placement/place.hpp"
#include "providers/transport/rest_api.hpp"
#include "tests/placement/fake_clock.hpp"

namespace sandgate {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::FakeClock;

TEST(HealthBoard, OpensAfterFiveFailuresAndLetsOneProbeThrough) {
  FakeClock clock;
  HealthBoard board(clock);
  const Error down(ErrorCode::unavailable, "down");
  for (int i = 0; i < 4; ++i) board.failed({"a"}, down);
  EXPECT_EQ(board.health_of({"a"}).breaker, Breaker::closed);
  board.failed({"a"}, down);
  EXPECT_EQ(board.health_of({"a"}).breaker, Breaker::open);
  EXPECT_FALSE(board.admit({"a"}));
  clock.advance(seconds(31));
  EXPECT_TRUE(board.admit({"a"}));
  EXPECT_FALSE(board.admit({"a"}));
  board.failed({"a"}, down);
  clock.advance(seconds(31));
  EXPECT_FALSE(board.admit({"a"})) << "the second cooldown is twice as long";
  clock.advance(seconds(30));
  EXPECT_TRUE(board.admit({"a"}));
  board.succeeded({"a"}, milliseconds(5));
  EXPECT_EQ(board.health_of({"a"}).breaker, Breaker::closed);
}

TEST(HealthBoard, ForgetsWhatIsGone) {
  FakeClock clock;
  HealthBoard board(clock);
  for (const char* name : {"a", "b"}) board.succeeded({name}, milliseconds(5));
  board.forget_unless([](const DeploymentKey& key) { return key.name == "b"; });
  EXPECT_FALSE(board.health_of({"a"}).latency_p50_ms);
  EXPECT_TRUE(board.health_of({"b"}).latency_p50_ms);
}

// The value of a sample in the text of metrics; empty: there is none.
std::string sample_of(const std::string& text, const std::string& name) {
  const size_t at = text.find("\n" + name + " ");
  if (at == std::string::npos) return "";
  const size_t value = at + name.size() + 2;
  return text.substr(value, text.find('\n', value) - value);
}

struct Told {
  Told(const HealthBoard& board, const std::vector<DeploymentKey>& deployments) {
    MetricText out;
    board.render(out, deployments);
    text = out.str();
  }
  std::string breaker(const std::string& deployment) const {
    return sample_of(text, "sandgate_breakers_open{deployment=\"" + deployment + "\"}");
  }
  std::string creates(const std::string& deployment, const std::string& outcome) const {
    return sample_of(text, "sandgate_creates_total{deployment=\"" + deployment + "\",outcome=\"" +
                               outcome + "\"}");
  }
  std::string text;
};

TEST(HealthBoard, TellsMetricsOfEachDeploymentAndOfTenantsTogether) {
  FakeClock clock;
  HealthBoard board(clock);
  const DeploymentKey own{"mine", TenantId::make()}, others{"mine", TenantId::make()};
  board.succeeded({"a"}, milliseconds(5));
  board.succeeded({"gone"}, milliseconds(5));
  for (int i = 0; i < 5; ++i)
    for (const DeploymentKey& key : {DeploymentKey{"a"}, own})
      board.failed(key, Error(ErrorCode::unavailable, "down"));
  board.failed(others, Error(ErrorCode::no_capacity, "full"));
  board.forget_unless([](const DeploymentKey& key) { return key.name != "gone"; });
  const Told told(board, {{"a"}, {"b"}, own, others});
  EXPECT_EQ(told.breaker("a"), "1");
  EXPECT_EQ(told.breaker("b"), "0");
  EXPECT_EQ(told.breaker("(tenants)"), "1");
  EXPECT_EQ(told.creates("a", "created"), "1");
  EXPECT_EQ(told.creates("a", "unavailable"), "5");
  EXPECT_EQ(told.creates("(tenants)", "unavailable"), "5");
  EXPECT_EQ(told.creates("(tenants)", "no_capacity"), "1");
  EXPECT_EQ(told.text.find("gone"), std::string::npos);
  EXPECT_EQ(told.text.find("mine"), std::string::npos) << "what a tenant named";
  clock.advance(seconds(31));
  EXPECT_EQ(Told(board, {{"a"}}).breaker("a"), "1") << "until a probe is well";
  ASSERT_TRUE(board.admit({"a"}));
  board.succeeded({"a"}, milliseconds(5));
  EXPECT_EQ(Told(board, {{"a"}}).breaker("a"), "0");
}

struct Outages {
  Outages() {
    board.on_change([this](const DeploymentKey&, const Verdict& verdict) {
      if (verdict.breaker == Breaker::open) cooldowns.push_back(verdict.cooldown.count());
    });
  }
  void fail() {
    for (int i = 0; i < 5; ++i) board.failed({"a"}, Error(ErrorCode::unavailable, "down"));
  }
  // When the cooldown is over.
  void probe(bool works) {
    clock.advance(seconds(cooldowns.back()));
    ASSERT_TRUE(board.admit({"a"}));
    if (works) board.succeeded({"a"}, milliseconds(5));
    if (!works) board.failed({"a"}, Error(ErrorCode::unavailable, "down"));
  }

  FakeClock clock;
  HealthBoard board{clock};
  std::vector<int64_t> cooldowns;
};

TEST(HealthBoard, DoublesTheCooldownForEachProbeThatFails) {
  Outages outages;
  outages.fail();
  for (int probe = 0; probe < 5; ++probe) outages.probe(false);
  EXPECT_EQ(outages.cooldowns, (std::vector<int64_t>{30, 60, 120, 240, 300, 300}));
}

// Whether or not anything was tried in between; what fails again at once is the same outage.
TEST(HealthBoard, BeginsWithHalfAMinuteAfterAMinuteThatItWasClosed) {
  Outages outages;
  for (const seconds closed : {seconds(0), seconds(59), seconds(60), seconds(0), seconds(7200)}) {
    outages.fail();
    outages.probe(true);
    outages.clock.advance(closed);
  }
  outages.fail();
  EXPECT_EQ(outages.cooldowns, (std::vector<int64_t>{30, 60, 120, 30, 60, 30}));
}

TEST(HealthBoard, ClosesForWhoWasAwayAndIsBack) {
  FakeClock clock;
  HealthBoard board(clock);
  for (int i = 0; i < 5; ++i) board.failed({"a"}, Error(ErrorCode::unavailable, "down"));
  EXPECT_FALSE(board.admit({"a"}));
  board.recovered({"a"});
  EXPECT_EQ(board.health_of({"a"}).breaker, Breaker::closed);
  EXPECT_TRUE(board.admit({"a"}));
}

TEST(HealthBoard, OpensOverHalfOfTenAndAtOnceForRefusedCredentials) {
  FakeClock clock;
  HealthBoard board(clock);
  for (int i = 0; i < 12; ++i) {
    if (i % 5 < 2)
      board.succeeded({"a"}, milliseconds(5));
    else
      board.failed({"a"}, Error(ErrorCode::timeout, "slow"));
  }
  EXPECT_EQ(board.health_of({"a"}).breaker, Breaker::open);
  board.failed({"b"}, credentials_refused("b"));
  EXPECT_EQ(board.health_of({"b"}).breaker, Breaker::open);
  for (int i = 0; i < 20; ++i) board.failed({"c"}, Error(ErrorCode::no_capacity, "full"));
  EXPECT_EQ(board.health_of({"c"}).breaker, Breaker::closed) << "a full backend works";
  Error busy(ErrorCode::rate_limited, "slow down");
  busy.retry_after = seconds(3);
  board.failed({"c"}, busy);
  EXPECT_TRUE(board.health_of({"c"}).resting);
  clock.advance(seconds(4));
  EXPECT_FALSE(board.health_of({"c"}).resting);
}

// As the adapters throw it: the breaker must know what they make of a 401 and a 403.
TEST(HealthBoard, OpensAtOnceForWhatAnAdapterMakesOfRefusedCredentials) {
  FakeClock clock;
  for (const int status : {401, 403}) {
    HealthBoard board(clock);
    board.failed({"a"}, error_of_status("vendor", status, {}));
    EXPECT_EQ(board.health_of({"a"}).breaker, Breaker::open) << status;
    EXPECT_FALSE(board.admit({"a"}));
  }
  HealthBoard board(clock);
  board.failed({"a"}, error_of_status("vendor", 500, {}));
  EXPECT_EQ(board.health_of({"a"}).breaker, Breaker::closed)
      << "one failure of another kind is no reason";
}

TEST(HealthBoard, OneProbeAtATimeAndOneThatNeverReportsIsGivenUp) {
  FakeClock clock;
  HealthBoard board(clock);
  std::vector<Breaker> heard;
  board.on_change(
      [&](const DeploymentKey&, const Verdict& verdict) { heard.push_back(verdict.breaker); });
  board.failed({"a"}, credentials_refused("a"));
  clock.advance(seconds(31));
  EXPECT_EQ(board.health_of({"a"}).breaker, Breaker::half_open);
  EXPECT_TRUE(board.admit({"a"}));
  EXPECT_EQ(board.health_of({"a"}).breaker, Breaker::open) << "while the probe is under way";
  clock.advance(seconds(61));
  EXPECT_TRUE(board.admit({"a"})) << "a probe that never reports is given up";
  board.failed({"a"}, Error(ErrorCode::no_capacity, "full"));
  EXPECT_EQ(board.health_of({"a"}).breaker, Breaker::closed) << "a full backend works";
  EXPECT_EQ(heard, (std::vector<Breaker>{Breaker::open, Breaker::closed}));
}

TEST(HealthBoard, AProbeThatWasNotSentLeavesItsPlaceToTheNext) {
  FakeClock clock;
  HealthBoard board(clock);
  board.failed({"a"}, credentials_refused("a"));
  clock.advance(seconds(31));
  EXPECT_TRUE(board.admit({"a"}));
  board.withdrawn({"a"});
  EXPECT_EQ(board.health_of({"a"}).breaker, Breaker::half_open);
  EXPECT_TRUE(board.admit({"a"}));
  EXPECT_FALSE(board.admit({"a"}));
}

}  // namespace
}  // namespace sandgate
