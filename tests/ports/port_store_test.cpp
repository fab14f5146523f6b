#include "gateway/ports/port_store.hpp"

#include <gtest/gtest.h>

#include "tests/events/events_world.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate::ports::test {
namespace {

using sandgate::test::run;

// One sandbox's ports.
class PortStoreTest : public testing::Test {
 protected:
  // What refuses it, if anything does.
  std::optional<ErrorCode> open(int64_t port) {
    const OpenPort row{.sandbox = box,
                       .tenant = world.tenant,
                       .port = static_cast<uint16_t>(port),
                       .access = Access::everyone};
    return sandgate::test::code_of([&] { run(ports.open(row, std::nullopt)); });
  }

  sandgate::test::EventsWorld world;
  Notifications notifications{world.database.url()};
  PortStore ports{*world.database, notifications};
  const SandboxId box = world.add_sandbox(world.tenant);
};

TEST_F(PortStoreTest, WhatIsOverTakesNoPlace) {
  for (int64_t port = 1; port <= PortStore::kMaxPerSandbox; ++port) EXPECT_FALSE(open(port));
  EXPECT_EQ(open(8080), ErrorCode::quota_exceeded);
  run(world.database->run([](pqxx::work& tx) { tx.exec("UPDATE port SET expires_at = now()"); }));
  EXPECT_TRUE(run(ports.list(box)).empty());
  EXPECT_FALSE(open(8080));
}

// A retry of a call whose gateway died hears what was done, and does not do it again.
TEST_F(PortStoreTest, WhatIsOpenedIsWrittenBesideItsKey) {
  world.sql(
      "INSERT INTO idempotent_call (scope, operation, key, body_hash, state, owner, lease_until)"
      " VALUES ('t', 'POST', 'k', '', 'running', 'mine', now())");
  const OpenPort row{
      .sandbox = box, .tenant = world.tenant, .port = 80, .access = Access::everyone};
  run(ports.open(row, std::nullopt, "mine"));
  EXPECT_EQ(world.sql("SELECT effect FROM idempotent_call"), "port 80");
  const auto taken_over = [&] { run(ports.open(row, std::nullopt, "another's")); };
  EXPECT_EQ(sandgate::test::code_of(taken_over), ErrorCode::conflict);
}

TEST_F(PortStoreTest, ClosesEveryPortAtOnceAndWhatWasClosedBeforeStaysSo) {
  for (const uint16_t port : {kEveryPort, uint16_t{81}, uint16_t{82}}) ASSERT_FALSE(open(port));
  EXPECT_TRUE(run(ports.close(box, 81)));
  EXPECT_TRUE(run(ports.close(box, kEveryPort)));
  EXPECT_FALSE(run(ports.close(box, kEveryPort)));
  const auto listed = run(ports.list(box));
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].port, 82);
  EXPECT_FALSE(run(ports.find(box, kEveryPort)));
}

}  // namespace
}  // namespace sandgate::ports::test
