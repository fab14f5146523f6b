#include <gtest/gtest.h>

#include "tests/sandboxes/world.hpp"

namespace sandgate::test {
namespace {

TEST(DeploymentsInUse, HoldWhatHasNotEnded) {
  World world;
  const auto any_on = [&](const char* name, std::optional<TenantId> owner = {}) {
    auto ask = [=](pqxx::work& tx) { return sandbox_rows::any_on(tx, name, owner); };
    return run(world.database->run(std::move(ask)));
  };
  EXPECT_FALSE(any_on("a"));
  const SandboxRecord box = world.create();
  EXPECT_TRUE(any_on("a"));
  EXPECT_TRUE(any_on("a", world.tenant));
  EXPECT_FALSE(any_on("a", TenantId::make()));
  EXPECT_FALSE(any_on("b"));
  world.sql("UPDATE sandbox SET state = 'creating', deployment = '' RETURNING id");
  EXPECT_TRUE(any_on("b")) << "it may come to be there";
  world.sql("UPDATE sandbox SET state = 'running', deployment = 'a' RETURNING id");
  run(world.replica.lifecycle.kill(world.tenant, box.id));
  EXPECT_FALSE(any_on("a"));
}

TEST(DeploymentsInUse, MayHoldWhatAnAttemptMadeOfWhichNobodyHeard) {
  World world;
  const SandboxRecord box = world.create();
  const auto any_on = [&](std::optional<TenantId> owner = {}) {
    auto ask = [=](pqxx::work& tx) { return sandbox_rows::any_on(tx, "b", owner); };
    return run(world.database->run(std::move(ask)));
  };
  for (const char* outcome : {"unknown", "lost_race"}) {
    world.sql("INSERT INTO attempt (sandbox, ordinal, deployment, outcome, duration_ms) VALUES ('" +
              box.id.value + "', 7, 'b', '" + outcome + "', 1) RETURNING 1");
    EXPECT_TRUE(any_on());
    EXPECT_TRUE(any_on(world.tenant));
    EXPECT_FALSE(any_on(TenantId::make()));
    world.sql(
        "UPDATE attempt SET at = now() - interval '61 minutes' WHERE ordinal = 7 RETURNING 1");
    EXPECT_FALSE(any_on()) << "a vendor that never answers holds it no longer";
    world.sql("UPDATE attempt SET at = now(), resolved_at = now() WHERE ordinal = 7 RETURNING 1");
    EXPECT_FALSE(any_on());
    world.sql("DELETE FROM attempt WHERE ordinal = 7 RETURNING 1");
  }
}

}  // namespace
}  // namespace sandgate::test
