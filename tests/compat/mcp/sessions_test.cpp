#include "gateway/compat/mcp/sessions.hpp"

#include "tests/sandboxes/world.hpp"

namespace sandgate::compat::mcp {
namespace {

using test::code_of;
using test::run;

constexpr char kKey[] = "ky000000000000000000000000";

struct McpSessionsTest : testing::Test {
  http::Request request(const std::string& session = "", const std::string& key = kKey) {
    http::Request request;
    request.caller = {.role = http::Role::developer, .tenant = world.tenant, .key_id = key};
    if (!session.empty()) request.headers.add("Mcp-Session-Id", session);
    return request;
  }
  std::string open() {
    const auto from = request();
    return run(sessions.open(from)).value;
  }
  Session find(const std::string& id, const std::string& key = kKey) {
    const auto from = request(id, key);
    return run(sessions.find(from));
  }
  void end(const std::string& id) {
    const auto from = request(id);
    const SessionId ended = run(sessions.end(from));
    run(sessions.end_sandbox(ended));
  }
  SandboxRecord own_sandbox(const std::string& session) {
    CreateOrder order = world.order();
    order.scope_key = session;
    return run(world.replica.lifecycle.create(std::move(order)));
  }
  void age(const std::string& id, const std::string& column, const std::string& by) {
    world.sql("UPDATE mcp_session SET " + column + " = " + column + " - interval '" + by +
              "' WHERE id = '" + id + "' RETURNING id");
  }
  bool ended(const SandboxRecord& box) { return is_ended(world.row(box.id).state); }

  test::World world;
  Sessions sessions{world.replica.database, world.replica.lifecycle};
};

TEST_F(McpSessionsTest, AreKnownToEveryGatewayOfTheDatabase) {
  const std::string id = open();
  EXPECT_TRUE(SessionId::parse(id));
  test::Replica other(world.database.url(), world.fixed());
  Sessions there(other.database, other.lifecycle);
  const auto from = request(id);
  EXPECT_EQ(run(there.find(from)).id.value, id);
}

TEST_F(McpSessionsTest, DoNotExistForOthers) {
  const std::string id = open();
  EXPECT_EQ(code_of([&] { find(id, "ky111111111111111111111111"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { find(id, ""); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { find("ms000000000000000000000000"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { find("' OR true --"); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { find(""); }), ErrorCode::invalid);
  auto foreign = request(id);
  foreign.caller.tenant = TenantId::make();
  EXPECT_EQ(code_of([&] { run(sessions.find(foreign)); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { run(sessions.end(foreign)); }), ErrorCode::not_found);
  find(id);
}

TEST_F(McpSessionsTest, FindTheirOwnSandboxWhileItLives) {
  const std::string id = open(), other = open();
  EXPECT_EQ(find(id).sandbox, "");
  const auto box = own_sandbox(id);
  EXPECT_EQ(find(id).sandbox, box.id.value);
  EXPECT_TRUE(find(id).runs);
  EXPECT_EQ(find(other).sandbox, "");
  run(world.replica.lifecycle.kill(world.tenant, box.id));
  EXPECT_EQ(find(id).sandbox, "");
  const auto next = own_sandbox(id);
  EXPECT_EQ(find(id).sandbox, next.id.value);
}

TEST_F(McpSessionsTest, KnowWhenTheirSandboxNeedsMoreTime) {
  const std::string id = open();
  const auto box = own_sandbox(id);
  EXPECT_EQ(find(id).extend_to, 0);
  const auto left = [&](const std::string& tenths) {
    world.sql("UPDATE sandbox SET expires_at = now() + make_interval(secs => ttl_seconds * " +
              tenths + ") WHERE id = '" + box.id.value + "' RETURNING id");
    return find(id).extend_to;
  };
  EXPECT_EQ(left("0.95"), 0);
  EXPECT_EQ(left("0.85"), box.ttl_seconds);
}

TEST_F(McpSessionsTest, EndWithTheirSandbox) {
  const std::string id = open(), other = open();
  const auto box = own_sandbox(id), kept = own_sandbox(other);
  end(id);
  EXPECT_TRUE(ended(box));
  EXPECT_FALSE(ended(kept));
  EXPECT_EQ(code_of([&] { find(id); }), ErrorCode::not_found);
  EXPECT_EQ(code_of([&] { end(id); }), ErrorCode::not_found);
}

TEST_F(McpSessionsTest, WhatACreateOnItsWayLeftBehindIsSwept) {
  const std::string id = open();
  end(id);
  const auto late = own_sandbox(id);
  run(sessions.sweep());
  EXPECT_TRUE(ended(late));
}

TEST_F(McpSessionsTest, NobodyUsesForADayEnd) {
  const std::string idle = open(), used = open();
  const auto box = own_sandbox(idle);
  age(idle, "used_at", "25 hours");
  age(used, "used_at", "23 hours");
  find(used);
  age(used, "used_at", "23 hours");
  run(sessions.sweep());
  EXPECT_TRUE(ended(box));
  EXPECT_EQ(code_of([&] { find(idle); }), ErrorCode::not_found);
  find(used);
}

TEST_F(McpSessionsTest, AreForgottenWhenNothingIsLeftOfThem) {
  const std::string id = open();
  end(id);
  run(sessions.sweep());
  EXPECT_EQ(world.sql("SELECT count(*) FROM mcp_session"), "1");
  age(id, "ended_at", "2 hours");
  run(sessions.sweep());
  EXPECT_EQ(world.sql("SELECT count(*) FROM mcp_session"), "0");
}

TEST_F(McpSessionsTest, AreNotWithoutNumber) {
  world.sql("INSERT INTO mcp_session (id, tenant, key) SELECT 'ms' || lpad(n::text, 24, '0'), '" +
            world.tenant.value + "', '' FROM generate_series(1, " +
            std::to_string(Sessions::kMaxOpen) + ") AS n RETURNING id");
  EXPECT_EQ(code_of([&] { open(); }), ErrorCode::quota_exceeded);
}

}  // namespace
}  // namespace sandgate::compat::mcp
