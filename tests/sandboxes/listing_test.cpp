#include <gtest/gtest.h>

#include "tests/sandboxes/world.hpp"

namespace sandgate::test {
namespace {

TEST(Listing, BeginsAtEitherEndAndGoesOnByPages) {
  World world;
  std::vector<SandboxId> made;
  for (int i = 0; i < 3; ++i) made.push_back(world.create().id);
  const auto page = [&](const sandbox_rows::Filter& filter) {
    auto read = [&](pqxx::work& tx) { return sandbox_rows::list(tx, filter); };
    std::vector<SandboxId> ids;
    for (const SandboxRecord& one : run(world.database->run(read))) ids.push_back(one.id);
    return ids;
  };
  const SandboxRecord first = world.row(made[0]);
  sandbox_rows::Filter filter{.tenant = world.tenant, .oldest_first = true, .rows = 2};
  EXPECT_EQ(page(filter), std::vector({made[0], made[1]}));
  filter.after = {world.row(made[1]).created_at, made[1].value};
  EXPECT_EQ(page(filter), std::vector({made[2]}));
  filter = {.tenant = world.tenant, .created_after = first.created_at};
  EXPECT_EQ(page(filter), std::vector({made[2], made[1]})) << "the youngest first, unless asked";
  const auto count = [&](const sandbox_rows::Filter& of) {
    return run(world.database->run([&](pqxx::work& tx) { return sandbox_rows::count(tx, of); }));
  };
  EXPECT_EQ(count(filter), 2);
  filter.after = {world.row(made[2]).created_at, made[2].value};
  filter.rows = 1;
  EXPECT_EQ(count(filter), 2) << "of all pages";
  filter.states = {SandboxState::paused};
  EXPECT_EQ(count(filter), 0);
  filter.states = {SandboxState::running};
  filter.ending = {{made[1].value, "killed"}};
  EXPECT_EQ(count(filter), 1) << "of those that are told as running";
}

}  // namespace
}  // namespace sandgate::test
