#include <gtest/gtest.h>

#include <thread>

#include "gateway/core/database.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/run.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate {
namespace {

using test::code_of;
using test::TestDatabase;

// A server that gives the role of its database so many connections beside the one that says so.
class ScarceServer {
 public:
  explicit ScarceServer(int connections)
      : database_(TestDatabase::Schema::empty, TestDatabase::Owner::ordinary) {
    test::run(database_->run([connections](pqxx::work& tx) {
      const std::string limit = std::to_string(connections + 1);
      tx.exec("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I CONNECTION LIMIT " + limit +
              "', current_database()); END $$");
    }));
  }
  const std::string& url() const { return database_.url(); }

 private:
  TestDatabase database_;
};

std::optional<ErrorCode> call_briefly(Database& database) {
  return code_of(database.run([](pqxx::work& tx) { tx.exec("SELECT pg_sleep(0.01)"); }));
}

bool is_in_use(Database& database) {
  return test::eventually([&] { return !call_briefly(database); });
}

TEST(DatabaseShortage, CallsUseTheConnectionsThatThereAre) {
  ScarceServer server(2);
  Database database({.url = server.url(), .connections = 8});
  ASSERT_TRUE(is_in_use(database));
  std::atomic<int> refused{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller)
    callers.emplace_back([&] {
      for (int call = 0; call < 10; ++call)
        if (call_briefly(database)) ++refused;
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(refused, 0);
}

TEST(DatabaseShortage, ReportsWithoutAConnectionRefuseNobodyElse) {
  ScarceServer server(1);
  Database database({.url = server.url(), .connections = 1});
  ASSERT_TRUE(is_in_use(database));
  for (int round = 0; round < 5; ++round) {
    auto report =
        database.report(database.options().patience, [](pqxx::work& tx) { tx.exec("SELECT 1"); });
    EXPECT_EQ(code_of(std::move(report)), ErrorCode::unavailable);
    EXPECT_FALSE(call_briefly(database));
  }
}

}  // namespace
}  // namespace sandgate
