#include <gtest/gtest.h>

#include "tests/sandboxes/world.hpp"

namespace sandgate::test {
namespace {

// Deployments as rows, made into fakes.
struct Accounts {
  explicit Accounts(World& world) : store(world.replica.database, cipher) {}

  void put(const std::string& name, const std::string& provider, const std::string& key,
           Json settings = Json::object()) {
    DeploymentDraft draft{.name = name, .provider = provider, .settings = std::move(settings)};
    draft.credentials = Credentials{{"api_key", Secret(key)}};
    run(store.put(
        std::move(draft), [](const DeploymentRow&) {}, Actor{}));
    run(deployments.reload());
  }
  DeploymentPtr find(const std::string& name) { return deployments.find(TenantId{}, name); }

  Cipher cipher{Secret(std::string(32, 'k'))};
  DeploymentStore store;
  Deployments deployments{
      store,
      [](const DeploymentRow& row) { return std::make_shared<FakeProvider>(row.provider); },
      {}};
};

TEST(Accounts, AreTheSameForTheSameCredentialsOfOneKind) {
  World world;
  Accounts accounts(world);
  accounts.put("eu", "acme", "key-1");
  accounts.put("us", "acme", "key-1", {{"creates_at_once", 3}, {"attempt_deadline_ms", 500}});
  accounts.put("other", "acme", "key-2");
  accounts.put("else", "umbrella", "key-1");
  EXPECT_EQ(accounts.find("eu")->account, accounts.find("us")->account);
  EXPECT_NE(accounts.find("eu")->account, accounts.find("other")->account);
  EXPECT_NE(accounts.find("eu")->account, accounts.find("else")->account);
  EXPECT_EQ(accounts.find("eu")->account_limits, AccountLimits{});
  EXPECT_EQ(accounts.find("us")->account_limits.creates_at_once, 3);
  EXPECT_EQ(accounts.find("us")->attempt_deadline, std::chrono::milliseconds(500));
}

TEST(Accounts, AreTheirOwnAtEachAddress) {
  World world;
  Accounts accounts(world);
  accounts.put("one", "acme", "key", {{"url", "https://one.example"}});
  accounts.put("same", "acme", "key", {{"url", "https://one.example/"}, {"creates_at_once", 3}});
  accounts.put("two", "acme", "key", {{"url", "https://two.example"}});
  accounts.put("three", "acme", "key", {{"api_url", "https://three.example"}});
  EXPECT_EQ(accounts.find("one")->account, accounts.find("same")->account);
  EXPECT_NE(accounts.find("one")->account, accounts.find("two")->account);
  EXPECT_NE(accounts.find("one")->account, accounts.find("three")->account);
}

TEST(Accounts, WhatIsUnderWayOutlivesAChangeOfTheDeployment) {
  World world;
  Accounts accounts(world);
  accounts.put("eu", "acme", "key-1", {{"creates_at_once", 1}});
  const Account::Slot slot = accounts.find("eu")->account->take({.creates_at_once = 1});
  accounts.put("eu", "acme", "key-1", {{"creates_at_once", 1}, {"attempt_deadline_ms", 900}});
  const DeploymentPtr changed = accounts.find("eu");
  EXPECT_EQ(changed->attempt_deadline, std::chrono::milliseconds(900));
  EXPECT_FALSE(changed->account->is_free(changed->account_limits));
}

TEST(Accounts, SettingsThatMakeNoSenseLeaveOutThatDeploymentAlone) {
  World world;
  Accounts accounts(world);
  accounts.put("wrong", "acme", "key-1", {{"creates_at_once", 0}});
  accounts.put("right", "acme", "key-1");
  EXPECT_FALSE(accounts.find("wrong"));
  EXPECT_TRUE(accounts.find("right"));
}

TEST(Accounts, NothingIsPlacedOnWhatWasRemovedOrDisabledMeanwhile) {
  World world;
  Accounts accounts(world);
  accounts.put("eu", "acme", "key-1");
  const auto lock = [&](const std::vector<std::string>& names) {
    return run(world.replica.database.run(
        [&](pqxx::work& tx) { return sandbox_rows::lock_deployments(tx, world.tenant, names); }));
  };
  EXPECT_TRUE(accounts.find("eu")->stored);
  EXPECT_TRUE(lock({"eu"}));
  EXPECT_FALSE(lock({"eu", "us"}));
  DeploymentDraft draft{.name = "eu", .provider = "acme", .enabled = false};
  run(accounts.store.put(
      draft, [](const DeploymentRow&) {}, Actor{}));
  EXPECT_FALSE(lock({"eu"}));
  run(accounts.store.remove(std::nullopt, "eu", Actor{}));
  EXPECT_FALSE(lock({"eu"}));
}

TEST(Accounts, ACreateThatWasDecidedBeforeARemovalIsRefused) {
  World world;
  DeploymentSet removed = world.fixed();
  for (DeploymentPtr& one : removed) {
    Deployment stored = *one;
    stored.stored = true;
    one = std::make_shared<const Deployment>(std::move(stored));
  }
  Replica late(world.database.url(), removed);
  EXPECT_EQ(code_of(late.lifecycle.create(world.order())), ErrorCode::unavailable);
  EXPECT_EQ(world.a->alive() + world.b->alive(), 0u);
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox"), "0");
}

// As where another gateway was told of it, and this one not yet.
TEST(Accounts, ACreateThatWasDecidedBeforeARemovalGoesElsewhere) {
  World world;
  Accounts accounts(world);
  accounts.put("a", "acme", "key-1");
  accounts.put("b", "acme", "key-1");
  run(accounts.store.remove(std::nullopt, "a", Actor{}));
  const Lifecycle::Parts& parts = world.replica.lifecycle.parts();
  Lifecycle lifecycle({parts.database, accounts.deployments, parts.board, parts.prices, parts.meter,
                       parts.spend, parts.cache, parts.clock, parts.cipher, parts.executor});
  asio::io_context loop;
  auto creating = asio::co_spawn(loop, lifecycle.create(world.order()), asio::use_future);
  asio::co_spawn(loop, accounts.deployments.run(), asio::detached);  // it learns of it after that
  const auto made = std::chrono::milliseconds(0);
  while (creating.wait_for(made) != std::future_status::ready) loop.run_one();
  EXPECT_EQ(creating.get().deployment, "b");
  EXPECT_EQ(world.sql("SELECT count(*) FROM sandbox"), "1");
}

TEST(Accounts, ACorrectedKeyIsTriedAtOnce) {
  World world;
  Accounts accounts(world);
  std::vector<DeploymentKey> told;
  HealthBoard board{world.replica.clock};
  accounts.deployments.on_change([&](const DeploymentKey& deployment) {
    told.push_back(deployment);
    board.recovered(deployment);
  });
  accounts.put("eu", "acme", "wrong");
  accounts.put("us", "acme", "wrong");
  EXPECT_TRUE(told.empty()) << "those are new";
  for (int i = 0; i < 5; ++i) board.failed({"eu"}, Error(ErrorCode::unavailable, "down"));
  EXPECT_FALSE(board.admit({"eu"}));
  accounts.put("eu", "acme", "right");
  EXPECT_EQ(told, std::vector<DeploymentKey>{{"eu"}});
  EXPECT_TRUE(board.admit({"eu"}));
  run(accounts.deployments.reload());
  EXPECT_EQ(told.size(), 1u);
}

TEST(Accounts, OneThatMadeNoSenseIsTriedAtOnce) {
  World world;
  Accounts accounts(world);
  std::vector<DeploymentKey> told;
  accounts.deployments.on_change([&](const DeploymentKey& key) { told.push_back(key); });
  accounts.put("eu", "acme", "key-1");
  accounts.put("eu", "acme", "key-1", {{"creates_at_once", 0}});
  EXPECT_TRUE(told.empty()) << "it is not in use";
  accounts.put("eu", "acme", "key-1");
  EXPECT_EQ(told, std::vector<DeploymentKey>{{"eu"}});
}

// Two deployments that are one account at a vendor, under different keys: each lists what the other
// made.
struct OneVendor {
  explicit OneVendor(std::shared_ptr<FakeProvider> vendor_, const std::string& us_kind = "acme")
      : vendor(std::move(vendor_)), replica(world.database.url(), deployments(us_kind)) {}

  // Each with a key of its own.
  DeploymentSet deployments(const std::string& us_kind) const {
    return {deployment("eu", "acme"), deployment("us", us_kind)};
  }
  DeploymentPtr deployment(const std::string& name, const std::string& kind) const {
    return std::make_shared<const Deployment>(Deployment{.name = name,
                                                         .provider = kind,
                                                         .backend = vendor,
                                                         .descriptor = vendor->descriptor(),
                                                         .account = std::make_shared<Account>()});
  }
  SandboxRecord create() {
    const auto order = [](Profile& p) { p.placement.order = {"eu", "us"}; };
    return run(replica.lifecycle.create(world.order(order)));
  }
  size_t orphans_seen_by(const std::string& name) {
    Reconciler reconciler(replica.lifecycle,
                          {.every = std::chrono::milliseconds(0), .orphan_age = {}});
    return run(reconciler.reconcile(replica.deployments.find(world.tenant, name)))->orphans_killed;
  }

  World world;
  std::shared_ptr<FakeProvider> vendor;
  Replica replica;
};

TEST(Accounts, TheSweepOfOneDeploymentSparesWhatTheOtherRuns) {
  OneVendor one(std::make_shared<FakeProvider>("acme"));
  EXPECT_EQ(one.create().deployment, "eu");
  EXPECT_EQ(one.orphans_seen_by("us"), 0u);
  EXPECT_EQ(one.orphans_seen_by("eu"), 0u);
  EXPECT_EQ(one.vendor->alive(), 1u);
  OneVendor two(std::make_shared<FakeProvider>("acme"), "umbrella");
  two.create();
  EXPECT_EQ(two.orphans_seen_by("us"), 1u) << "at another vendor it would be nobody's";
}

TEST(Accounts, TheSweepStillKillsWhatAnyOfThemLeftBehind) {
  OneVendor one(std::make_shared<FakeProvider>("acme"));
  const SandboxRecord made = one.create();
  CreateSpec twin;
  twin.sandbox_id = made.id.value;
  run(one.vendor->create(std::move(twin)));
  EXPECT_EQ(one.vendor->alive(), 2u);
  EXPECT_EQ(one.orphans_seen_by("us"), 1u) << "the tag is known, the backend's id is not";
  EXPECT_EQ(one.vendor->state_of(made.backend_id), BackendState::running);
}

// Leaves open what became of its first create.
class SilentAtFirst : public FakeProvider {
 public:
  using FakeProvider::FakeProvider;
  Task<BackendSandbox> create(CreateSpec spec) override {
    const bool silent = !std::exchange(spoke_, true);
    if (silent) throw Error(ErrorCode::timeout, "no answer");
    co_return co_await FakeProvider::create(std::move(spec));
  }

 private:
  bool spoke_ = false;
};

TEST(Accounts, TheReaperOfAnAttemptSparesWhatTheNextOneMade) {
  OneVendor one(std::make_shared<SilentAtFirst>("acme"));
  const SandboxRecord made = one.create();
  EXPECT_EQ(made.deployment, "us");
  auto reaper = one.replica.reaper();
  EXPECT_EQ(run(reaper.resolve_unknown()), 1u);
  EXPECT_TRUE(one.vendor->has(made.id.value));
  EXPECT_EQ(one.vendor->kills(), 0);
}

TEST(Accounts, ASandboxThatIsAnothersIsTheBackendsFailure) {
  World world;
  const SandboxRecord first = world.create();
  world.a->fail_creates(FakeProvider::Fault::repeated);
  const SandboxRecord second = world.create();
  EXPECT_EQ(second.deployment, "b");
  const auto attempts = [&](const std::string& of) {
    return world.sql(
        "SELECT string_agg(concat_ws(' ', deployment, outcome, code), ', '"
        " ORDER BY ordinal) FROM attempt WHERE sandbox = " +
        of);
  };
  EXPECT_EQ(attempts("'" + second.id.value + "'"), "a failed unavailable, b created");
  const auto there = [](Profile& p) { p.placement.only = {"a"}; };
  try {
    world.create(there);
    ADD_FAILURE() << "it took the first one's sandbox";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::unavailable);
    EXPECT_EQ(error.retry_after, std::chrono::seconds(2));
  }
  EXPECT_EQ(attempts("(SELECT id FROM sandbox WHERE state = 'failed')"), "a failed unavailable");
  world.b->fail_creates(FakeProvider::Fault::error, ErrorCode::no_capacity);
  EXPECT_EQ(code_of([&] { world.create(); }), ErrorCode::no_capacity) << "the last one's word";
  EXPECT_EQ(world.a->kills(), 0) << "it is the first one's";
  EXPECT_EQ(world.row(first.id).state, SandboxState::running);
  EXPECT_EQ(world.sql("SELECT count(*) FROM metered_sandbox"), "2");
  // Another tenant's deployment of that name is another deployment.
  world.sql("UPDATE sandbox SET deployment_owner = tenant WHERE id = '" + first.id.value +
            "' RETURNING id");
  EXPECT_EQ(world.create(there).backend_id, first.backend_id);
}

}  // namespace
}  // namespace sandgate::test
