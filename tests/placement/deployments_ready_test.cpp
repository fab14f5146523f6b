#include <gtest/gtest.h>

#include <boost/asio/thread_pool.hpp>

#include "gateway/placement/deployments.hpp"
#include "tests/support/fake_provider.hpp"
#include "tests/support/run.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Steady = std::chrono::steady_clock;

const Actor kOperator{.role = "operator"};
const auto kNoCheck = [](const DeploymentRow&) {};

// Deployments that are kept as a gateway keeps them, all on one backend.
struct DeploymentsReadyTest : testing::Test {
  DeploymentsReadyTest() { asio::co_spawn(pool, deployments.run(), asio::detached); }
  ~DeploymentsReadyTest() override {
    pool.stop();
    pool.join();
  }
  void put(bool enabled = true) { put({.name = "z", .provider = "fake", .enabled = enabled}); }
  void put(DeploymentDraft draft) { run(store.put(std::move(draft), kNoCheck, kOperator)); }
  // Whether a change is taken up in less than whoever waits for a backend waits: a busy machine
  // needs several tries.
  bool is_taken_up_at_once(bool enabled) {
    for (int tries = 0; tries < 5; ++tries) {
      put(enabled);
      const auto begin = Steady::now();
      taken_up();
      if (Steady::now() - begin < seconds(1)) return true;
    }
    return false;
  }
  DeploymentPtr taken_up() {
    run(deployments.wait_ready({"z"}));
    return find_deployment(*deployments.snapshot(), DeploymentKey{"z"});
  }
  void reach(bool reached, std::vector<std::string> notes = {}) {
    Descriptor offered = FakeProvider::capable("fake");
    offered.known = reached;
    offered.notes = std::move(notes);
    backend->offer(offered);
  }

  TestDatabase database;
  Cipher cipher{Secret(std::string(32, 'k'))};
  DeploymentStore store{*database, cipher};
  std::shared_ptr<FakeProvider> backend = std::make_shared<FakeProvider>("fake");
  Deployments deployments{store, [this](const DeploymentRow&) { return backend; }, {}};
  asio::thread_pool pool{1};
};

TEST_F(DeploymentsReadyTest, WhatWasWrittenCounts) {
  for (int round = 0; round < 5; ++round) {
    put();
    ASSERT_TRUE(taken_up()) << round;
    put(false);
    EXPECT_FALSE(taken_up()->enabled) << round;
    run(store.remove(std::nullopt, "z", kOperator));
    EXPECT_FALSE(taken_up()) << round;
  }
}

TEST_F(DeploymentsReadyTest, ABackendMayNeedAMomentToTell) {
  reach(false);
  put();
  std::thread later([this] {
    std::this_thread::sleep_for(milliseconds(300));
    reach(true);
  });
  const DeploymentPtr one = taken_up();
  later.join();
  ASSERT_TRUE(one);
  EXPECT_TRUE(one->descriptor.known);
}

TEST_F(DeploymentsReadyTest, NobodyWaitsForLong) {
  reach(false);
  put();
  const auto begin = Steady::now();
  ASSERT_TRUE(taken_up());
  EXPECT_LT(Steady::now() - begin, seconds(10));
  EXPECT_TRUE(is_taken_up_at_once(false)) << "what is disabled is asked nothing";
  reach(false, {"it refuses connections"});
  EXPECT_TRUE(is_taken_up_at_once(true)) << "the first look was made";
}

// It has told what it offers, and may be away just now.
TEST_F(DeploymentsReadyTest, ABackendIsAskedAgainOnlyForWhatItIsMadeOf) {
  DeploymentDraft draft{.name = "z", .provider = "fake"};
  put(draft);
  const auto first = taken_up()->backend;
  backend = std::make_shared<FakeProvider>("fake");
  reach(false);
  const auto begin = Steady::now();
  draft.weight = 7;
  put(draft);
  EXPECT_EQ(taken_up()->weight, 7);
  draft.settings = {{"attempt_deadline_ms", 900}};
  put(draft);
  EXPECT_EQ(taken_up()->attempt_deadline, milliseconds(900));
  EXPECT_EQ(taken_up()->backend, first);
  EXPECT_LT(Steady::now() - begin, seconds(2)) << "as long as it would be waited for";
  draft.settings["url"] = "https://elsewhere.example";
  put(draft);
  EXPECT_EQ(taken_up()->backend, backend) << "another one";
  const auto unknown = std::exchange(backend, std::make_shared<FakeProvider>("fake"));
  draft.weight = 8;
  put(draft);
  EXPECT_EQ(taken_up()->backend, backend) << "who has told nothing is asked anew";
}

TEST_F(DeploymentsReadyTest, WithoutAChangeItSleeps) {
  Deployments idle{store, [this](const DeploymentRow&) { return backend; }, {}};
  asio::io_context loop;
  asio::co_spawn(loop, idle.run(), asio::detached);
  loop.run_for(seconds(1));  // it loads what there is
  EXPECT_LT(loop.run_for(seconds(3)), 80u) << "steps of its coroutine, some for each second";
}

}  // namespace
}  // namespace sandgate::test
