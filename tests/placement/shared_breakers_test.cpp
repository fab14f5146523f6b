#include "gateway/placement/shared_breakers.hpp"

#include <gtest/gtest.h>

#include <boost/asio/thread_pool.hpp>

#include "tests/support/fake_provider.hpp"
#include "tests/support/run.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Error kDown(ErrorCode::unavailable, "down");

DeploymentPtr deployed(const std::string& name, const std::string& machine = "") {
  auto backend = std::make_shared<FakeProvider>(name);
  Descriptor offered = backend->descriptor();
  offered.machine = machine;
  backend->offer(offered);
  return std::make_shared<const Deployment>(
      Deployment{.name = name, .provider = name, .backend = backend, .descriptor = offered});
}

class MovedClock : public Clock {
 public:
  Time now() const override { return SystemClock().now() + seconds(ahead); }
  std::atomic<int> ahead{0};  // seconds
};

// A gateway as far as breakers go.
struct Judge {
  Judge(const std::string& url, const std::string& machine)
      : database({.url = url, .connections = 2}),
        store(database, cipher),
        deployments(store, [](const DeploymentRow&) { return nullptr; },
                    {deployed("a"), deployed("own", machine)}),
        notifications(url) {
    board.on_change([this](const DeploymentKey& deployment, const Verdict& verdict) {
      ++turns[verdict.turned];
      run(breakers.publish(deployment, verdict));
    });
    breakers.subscribe(notifications, pool.get_executor());
    notifications.start();
  }
  ~Judge() { pool.join(); }

  void fail(const DeploymentKey& deployment, int times = 5) {
    for (int i = 0; i < times; ++i) board.failed(deployment, kDown);
  }
  bool comes_to_be(const DeploymentKey& deployment, Breaker breaker) const {
    const auto limit = std::chrono::steady_clock::now() + seconds(10);
    while (board.health_of(deployment).breaker != breaker)
      if (std::chrono::steady_clock::now() > limit) return false;
    return true;
  }

  MovedClock clock;
  Database database;
  Cipher cipher{Secret(std::string(32, 'k'))};
  DeploymentStore store;
  Deployments deployments;
  HealthBoard board{clock};
  SharedBreakers breakers{database, deployments, board};
  std::map<bool, int> turns;
  asio::thread_pool pool{1};
  Notifications notifications;
};

struct SharedBreakersTest : testing::Test {
  TestDatabase database;
  Judge first{database.url(), "m1"}, second{database.url(), "m2"};
};

TEST_F(SharedBreakersTest, OneFindsOutForAll) {
  first.fail({"a"});
  EXPECT_TRUE(second.comes_to_be({"a"}, Breaker::open));
  EXPECT_FALSE(second.board.admit({"a"}));
  for (Judge* one : {&first, &second}) one->clock.ahead = 31;
  EXPECT_EQ(second.board.health_of({"a"}).breaker, Breaker::half_open);
  ASSERT_TRUE(second.board.admit({"a"}));
  second.board.succeeded({"a"}, milliseconds(5));
  EXPECT_TRUE(first.comes_to_be({"a"}, Breaker::closed));
  EXPECT_EQ(first.turns[true], 1) << "who takes over does not tell";
  EXPECT_EQ(second.turns[true], 1);
}

TEST_F(SharedBreakersTest, AFailedProbeKeepsItOpenForAll) {
  first.fail({"a"});
  ASSERT_TRUE(second.comes_to_be({"a"}, Breaker::open));
  second.clock.ahead = 31;
  ASSERT_TRUE(second.board.admit({"a"}));
  second.fail({"a"}, 1);
  first.clock.ahead = 80;  // the second cooldown is a minute
  EXPECT_TRUE(first.comes_to_be({"a"}, Breaker::open));
  EXPECT_EQ(second.turns[false], 1) << "it was open before";
}

TEST_F(SharedBreakersTest, ALaterDecisionIsNotUndoneByAnEarlierOne) {
  first.fail({"a"});
  ASSERT_TRUE(second.comes_to_be({"a"}, Breaker::open));
  const Verdict early{.breaker = Breaker::closed, .at = SystemClock().now() - seconds(60)};
  run(first.breakers.publish({"a"}, early));
  second.board.adopt({"a"}, early);
  EXPECT_EQ(second.board.health_of({"a"}).breaker, Breaker::open);
  Judge third{database.url(), "m3"};
  EXPECT_TRUE(third.comes_to_be({"a"}, Breaker::open)) << "what was told before it began";
}

TEST_F(SharedBreakersTest, ABackendOfItsOwnIsItsOwnAffair) {
  first.fail({"own"});
  first.fail({"a"});
  ASSERT_TRUE(second.comes_to_be({"a"}, Breaker::open));
  EXPECT_EQ(first.board.health_of({"own"}).breaker, Breaker::open);
  EXPECT_EQ(second.board.health_of({"own"}).breaker, Breaker::closed);
}

}  // namespace
}  // namespace sandgate::test
