#include "gateway/ports/port_store.hpp"

#include <gtest/gtest.h>

#include "tests/events/events_world.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate::ports::test {
namespace {

using sandgate::test::run;

TEST(PortStore, WhatIsOverTakesNoPlace) {
  sandgate::test::EventsWorld world;
  Notifications notifications(world.database.url());
  PortStore ports(*world.database, notifications);
  const SandboxId box = world.add_sandbox(world.tenant);
  const auto open = [&](int64_t port) {
    const OpenPort row{.sandbox = box,
                       .tenant = world.tenant,
                       .port = static_cast<uint16_t>(port),
                       .access = Access::everyone};
    return sandgate::test::code_of([&] { run(ports.open(row, std::nullopt, {})); });
  };
  for (int64_t port = 1; port <= PortStore::kMaxPerSandbox; ++port) EXPECT_FALSE(open(port));
  EXPECT_EQ(open(8080), ErrorCode::quota_exceeded);
  run(world.database->run([](pqxx::work& tx) { tx.exec("UPDATE port SET expires_at = now()"); }));
  EXPECT_TRUE(run(ports.list(box)).empty());
  EXPECT_FALSE(open(8080));
}

}  // namespace
}  // namespace sandgate::ports::test
