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

// What the transaction has read of the table, by itself and by its indexes.
int64_t rows_read(pqxx::work& tx) {
  return tx
      .exec(
          "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables"
          " WHERE relname = 'sandbox'")[0][0]
      .as<int64_t>();
}

// A thousand that ended like this one.
void add_many_like(pqxx::work& tx, const SandboxId& ended) {
  tx.exec_params(
      "INSERT INTO sandbox SELECT (jsonb_populate_record(s,"
      " jsonb_build_object('id', 'sb' || lpad(n::text, 24, '0')))).*"
      " FROM sandbox s, generate_series(1, 1000) n WHERE s.id = $1",
      ended.value);
  tx.exec("ANALYZE sandbox");
}

// What a list finds, by few looks at the table.
std::vector<SandboxRecord> found_at_once(World& world, const sandbox_rows::Filter& filter) {
  return run(world.database->run([&](pqxx::work& tx) {
    const int64_t before = rows_read(tx);
    auto found = sandbox_rows::list(tx, filter);
    EXPECT_LT(rows_read(tx) - before, 100);
    return found;
  }));
}

TEST(Listing, FindsWhatFailedAmongManyThatEnded) {
  World world;
  const SandboxId failed = world.create().id, ended = world.create().id;
  run(world.database->run_within(std::chrono::minutes(1), [&](pqxx::work& tx) {
    tx.exec_params(
        "UPDATE sandbox SET state = 'failed', failure_code = 'backend_lost', ended_at = now()"
        " WHERE id = $1",
        failed.value);
    tx.exec_params("UPDATE sandbox SET state = 'stopped', ended_at = now() WHERE id = $1",
                   ended.value);
    add_many_like(tx, ended);
  }));
  const auto found =
      found_at_once(world, {.tenant = world.tenant, .states = {SandboxState::failed}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().id, failed);
}

TEST(Listing, FindsWhatAProfileOrADeploymentHardlyHas) {
  World world;
  const SandboxId rare = world.create().id, ended = world.create().id;
  run(world.database->run_within(std::chrono::minutes(1), [&](pqxx::work& tx) {
    tx.exec("UPDATE sandbox SET state = 'stopped', ended_at = now()");
    tx.exec_params("UPDATE sandbox SET profile = 'rare', deployment = 'rare' WHERE id = $1",
                   rare.value);
    add_many_like(tx, ended);
  }));
  for (const char* name : {"rare", "none"}) {
    const size_t expected = name == std::string("rare") ? 1 : 0;
    EXPECT_EQ(found_at_once(world, {.tenant = world.tenant, .profile = name}).size(), expected);
    EXPECT_EQ(found_at_once(world, {.tenant = world.tenant, .deployment = name}).size(), expected);
  }
}

}  // namespace
}  // namespace sandgate::test
