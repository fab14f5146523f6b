#include "gateway/core/migrate.hpp"

#include <gtest/gtest.h>

#include "tests/support/run.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate {
namespace {

using test::run;
using test::TestDatabase;

const std::vector<Migration> kSteps{{"0001_b", "CREATE TABLE b (x int)"},
                                    {"0002_a", "CREATE TABLE a (x int)"}};

// What is said about a database on which this was run before.
std::string complaint_about(const char* sql, ErrorCode code) {
  TestDatabase database(TestDatabase::Schema::empty, TestDatabase::Owner::ordinary);
  run(database->run([sql](pqxx::work& tx) { tx.exec(sql); }));
  const auto outcome = run(attempt(migrate(*database, kSteps)));
  if (!std::holds_alternative<Error>(outcome)) return "nothing";
  EXPECT_EQ(std::get<Error>(outcome).code, code);
  return std::get<Error>(outcome).what();
}

TEST(MigrateWrongDatabase, OfAnotherProgramIsLeftAlone) {
  const std::string said = complaint_about("CREATE TABLE a (y int)", ErrorCode::conflict);
  EXPECT_EQ(said,
            "the database has tables that are not Sandgate's (ERROR:  relation \"a\" already "
            "exists): give Sandgate a database of its own");
}

TEST(MigrateWrongDatabase, WithoutTheRightToChangeItIsSaidToNeedAnOwner) {
  const std::string said = complaint_about(
      "REVOKE CREATE ON SCHEMA public FROM pg_database_owner, PUBLIC", ErrorCode::forbidden);
  EXPECT_EQ(said,
            "the gateway's role may not change its database (ERROR:  permission denied for schema "
            "public): give it a database that it owns");
}

}  // namespace
}  // namespace sandgate
