#include "gateway/sandboxes/creating/scopes.hpp"

#include <gtest/gtest.h>

#include "gateway/sandboxes/rows/pause_rows.hpp"
#include "tests/sandboxes/world.hpp"

namespace sandgate::test {
namespace {

class ScopeWorld : public testing::Test {
 protected:
  CreateOrder order(Scope scope, const std::string& agent = "",
                    const std::function<void(Profile&)>& change = {}) {
    CreateOrder order = world.order([&](Profile& profile) {
      profile.scope = scope;
      if (change) change(profile);
    });
    if (!agent.empty()) order.request.metadata["agent"] = agent;
    order.scope_key = scope_key_of(order);
    return order;
  }
  Scopes::Joined create(CreateOrder order) { return run(scopes.create(std::move(order))); }

  World world;
  Scopes scopes{world.replica.lifecycle};
};

TEST_F(ScopeWorld, SessionsShareNothing) {
  EXPECT_TRUE(create(order(Scope::session)).made);
  EXPECT_TRUE(create(order(Scope::session)).made);
  EXPECT_EQ(world.a->alive(), 2u);
}

TEST_F(ScopeWorld, SharedOnesAreMetUntilTheyEnd) {
  const auto first = create(order(Scope::shared)), second = create(order(Scope::shared));
  EXPECT_TRUE(first.made);
  EXPECT_FALSE(second.made);
  EXPECT_EQ(second.sandbox.id, first.sandbox.id);
  run(world.replica.lifecycle.kill(world.tenant, first.sandbox.id));
  const auto third = create(order(Scope::shared));
  EXPECT_TRUE(third.made);
  EXPECT_NE(third.sandbox.id, first.sandbox.id);
}

TEST_F(ScopeWorld, OnlyEqualRequestsMeet) {
  const auto first = create(order(Scope::shared));
  const auto narrower = [](Profile& p) { p.network.allow = {"a.example.com:443"}; };
  EXPECT_TRUE(create(order(Scope::shared, "", narrower)).made);
  const auto other_env = [](Profile& p) { p.env["A"] = "1"; };
  EXPECT_TRUE(create(order(Scope::shared, "", other_env)).made);
  const auto shorter = [](Profile& p) {
    p.limits.max_ttl_seconds = std::exchange(p.ttl_seconds, 60);
  };
  EXPECT_EQ(create(order(Scope::shared, "", shorter)).sandbox.id, first.sandbox.id);
}

TEST_F(ScopeWorld, OneWhoseNetworkWasChangedIsNotMet) {
  const Json asked{{"default", "deny"}}, wider{{"allow", {"a.example.com:443"}}};
  CreateOrder narrow = order(Scope::shared);
  narrow.overrides = {{"network", asked}};
  const auto first = create(narrow);
  const auto change = [&](const Json& network) {
    auto work = [&](pqxx::work& tx) { sandbox_rows::leave_scope(tx, first.sandbox.id, network); };
    run(world.replica.database.run(work));
  };
  change(asked);
  EXPECT_EQ(create(narrow).sandbox.id, first.sandbox.id);
  change(wider);
  const auto second = create(narrow);
  EXPECT_TRUE(second.made);
  EXPECT_EQ(create(narrow).sandbox.id, second.sandbox.id);
}

TEST_F(ScopeWorld, ASessionKeepsItsSandboxWithAnotherNetwork) {
  CreateOrder own = order(Scope::session);
  own.scope_key = make_id("ms");
  world.sql("INSERT INTO mcp_session (id, tenant, key) VALUES ('" + own.scope_key + "', '" +
            world.tenant.value + "', 'k') RETURNING id");
  const auto first = create(own);
  auto work = [&](pqxx::work& tx) {
    sandbox_rows::leave_scope(tx, first.sandbox.id, {{"default", "deny"}});
  };
  run(world.replica.database.run(work));
  EXPECT_EQ(create(own).sandbox.id, first.sandbox.id);
}

TEST_F(ScopeWorld, AgentsHaveOneEach) {
  const auto a = create(order(Scope::agent, "a")), b = create(order(Scope::agent, "b"));
  EXPECT_TRUE(a.made && b.made);
  EXPECT_EQ(create(order(Scope::agent, "a")).sandbox.id, a.sandbox.id);
  EXPECT_EQ(create(order(Scope::agent, "b")).sandbox.id, b.sandbox.id);
  try {
    order(Scope::agent);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fields.at(0).path, "/metadata/agent");
  }
}

TEST_F(ScopeWorld, ThePausedIsResumed) {
  const auto first = create(order(Scope::shared));
  Pausing pausing(world.replica.lifecycle);
  run(pausing.pause(world.tenant, first.sandbox.id, Keeps::disk));
  const auto second = create(order(Scope::shared));
  EXPECT_EQ(second.sandbox.id, first.sandbox.id);
  EXPECT_EQ(second.sandbox.state, SandboxState::running);
}

TEST_F(ScopeWorld, OneThatEndsWhileItIsResumedIsNotMet) {
  const auto first = create(order(Scope::shared));
  Pausing pausing(world.replica.lifecycle);
  run(pausing.pause(world.tenant, first.sandbox.id, Keeps::disk));
  world.a->once_changed(
      [this] { world.sql("UPDATE sandbox SET state = 'stopping' RETURNING id"); });
  const auto second = create(order(Scope::shared));
  EXPECT_TRUE(second.made);
  EXPECT_EQ(second.sandbox.state, SandboxState::running);
}

TEST_F(ScopeWorld, ManyAtOnceMeetInOne) {
  world.a->fail_creates(FakeProvider::Fault::slow, ErrorCode::unavailable,
                        std::chrono::milliseconds(100));
  asio::thread_pool pool(4);
  std::vector<std::future<Scopes::Joined>> all;
  for (int i = 0; i < 20; ++i) {
    auto work = [this]() { return scopes.create(order(Scope::shared)); };
    all.push_back(asio::co_spawn(pool, work, asio::use_future));
  }
  int made = 0;
  std::set<std::string> ids;
  for (auto& one : all) {
    const auto met = one.get();
    made += met.made;
    ids.insert(met.sandbox.id.value);
  }
  EXPECT_EQ(made, 1);
  EXPECT_EQ(ids.size(), 1u);
  EXPECT_EQ(world.a->alive(), 1u);
}

TEST(ScopeElsewhere, OneThatCannotBeUsedHereIsNotMet) {
  World world("m1");
  Scopes scopes(world.replica.lifecycle);
  CreateOrder order = world.order([](Profile& profile) { profile.scope = Scope::shared; });
  order.scope_key = scope_key_of(order);
  run(scopes.create(order));
  world.sql("UPDATE sandbox SET backend_id = id || '@m1' RETURNING id");
  EXPECT_FALSE(run(scopes.create(order)).made);
  world.sql("UPDATE sandbox SET backend_id = id || '@m2' RETURNING id");
  EXPECT_EQ(code_of([&] { run(scopes.create(order)); }), ErrorCode::unavailable);
  EXPECT_EQ(world.a->alive(), 1u);
}

}  // namespace
}  // namespace sandgate::test
