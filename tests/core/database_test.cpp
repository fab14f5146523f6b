#include "gateway/core/database.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "gateway/core/conninfo.hpp"
#include "gateway/core/migrate.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/core/statement.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/run.hpp"
#include "tests/support/test_database.hpp"

namespace sandgate {
namespace {

using std::chrono::milliseconds;
using test::code_of;
using test::run;
using test::TestDatabase;

// Somebody whose transaction has a connection until this object's end, for ten seconds at most.
class Occupant {
 public:
  enum class Of { all, reports };
  explicit Occupant(Database& database, Of connections = Of::all)
      : thread_([this, &database, connections] {
          const auto stay = [this](pqxx::work&) {
            is_there_ = true;
            test::eventually([this] { return leaves_.load(); });
          };
          constexpr milliseconds kStay(10'000);
          (void)run(attempt(connections == Of::reports ? database.report(kStay, stay)
                                                       : database.run_within(kStay, stay)));
        }) {
    EXPECT_TRUE(test::eventually([this] { return is_there_.load(); }));
  }
  ~Occupant() {
    leaves_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> is_there_{false}, leaves_{false};
  std::thread thread_;
};

// Somebody else's transaction that stays open, as an operator's at a terminal.
class Holder {
 public:
  Holder(const std::string& url, const std::string& statement) : connection_(url) {
    held_.exec(statement);
  }

 private:
  pqxx::connection connection_;
  pqxx::work held_{connection_};
};

// Whether it answers one whose patience may be over before a busy machine has connected.
bool answers(Database& database) {
  return test::eventually(
      [&] { return !code_of(database.run([](pqxx::work& tx) { tx.exec("SELECT 1"); })); });
}

TEST(Database, CommitsWhatReturnsAndRollsBackWhatThrows) {
  TestDatabase database(TestDatabase::Schema::empty);
  run(database->run([](pqxx::work& tx) { tx.exec("CREATE TABLE t (a int PRIMARY KEY)"); }));
  EXPECT_EQ(code_of(database->run([](pqxx::work& tx) -> int {
              tx.exec("INSERT INTO t VALUES (1)");
              throw Error(ErrorCode::forbidden, "no");
            })),
            ErrorCode::forbidden);
  EXPECT_EQ(run(database->run(
                [](pqxx::work& tx) { return tx.exec1("SELECT count(*) FROM t")[0].as<int>(); })),
            0);
}

TEST(Database, NamesItsFailures) {
  TestDatabase database(TestDatabase::Schema::empty);
  EXPECT_EQ(
      code_of(database->run([](pqxx::work& tx) -> int { return tx.exec("nonsense").size(); })),
      ErrorCode::internal);
  Database nowhere({.url = "host=/nonexistent dbname=x"});
  EXPECT_EQ(code_of(nowhere.run([](pqxx::work&) { return 1; })), ErrorCode::unavailable);
}

TEST(Database, AConnectionThatBreaksAmidAQueryIsReplacedOnce) {
  TestDatabase database(TestDatabase::Schema::empty);
  Database single({.url = database.url(), .connections = 1});
  run(single.run([](pqxx::work& tx) { tx.exec("SELECT 1"); }));  // it is connected
  for (const int breaks : {1, 2}) {
    int tries = 0;
    auto work = [&](pqxx::work& tx) {
      if (++tries <= breaks) ::shutdown(tx.conn().sock(), SHUT_RDWR);
      return tx.exec1("SELECT 7")[0].as<int>();
    };
    if (breaks == 1)
      EXPECT_EQ(run(single.run(work)), 7);
    else
      EXPECT_EQ(code_of(single.run(work)), ErrorCode::unavailable);
    EXPECT_EQ(tries, 2);
  }
}

TEST(Database, SaysWhenToComeBack) {
  Database nowhere({.url = "host=/nonexistent dbname=x"});
  const auto outcome = run(attempt(nowhere.run([](pqxx::work&) { return 1; })));
  ASSERT_TRUE(std::holds_alternative<Error>(outcome));
  EXPECT_EQ(std::get<Error>(outcome).retry_after, std::chrono::seconds(1));
}

TEST(Database, AServerThatTakesNoWritesIsAway) {
  TestDatabase database(TestDatabase::Schema::empty);
  Database single({.url = database.url(), .connections = 1});
  const auto write = [&] {
    return single.run([](pqxx::work& tx) -> int {
      return static_cast<int>(tx.exec("CREATE TABLE t (a int)").affected_rows());
    });
  };
  run(single.run(
      [](pqxx::work& tx) { tx.exec("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"); }));
  EXPECT_EQ(code_of(write()), ErrorCode::unavailable);
  EXPECT_EQ(run(write()), 0) << "over another connection, as to another server";
}

TEST(Database, AFullDiskIsFullUntilATrialFindsRoom) {
  TestDatabase database(TestDatabase::Schema::empty);
  EXPECT_TRUE(run(database->has_disk_space()));
  const auto fail = [&](const std::string& state) {
    return code_of(database->run([state](pqxx::work& tx) -> int {
      return tx.exec("DO $$ BEGIN RAISE 'no' USING ERRCODE = '" + state + "'; END $$").size();
    }));
  };
  EXPECT_EQ(fail("53100"), ErrorCode::unavailable);
  EXPECT_TRUE(run(database->has_disk_space())) << "by a trial";
  EXPECT_EQ(fail("53100"), ErrorCode::unavailable);
  EXPECT_FALSE(run(database->has_disk_space())) << "without a trial, so soon after the last";
  run(database->run([](pqxx::work& tx) { tx.exec("SELECT 1"); }));
  EXPECT_FALSE(run(database->has_disk_space())) << "a read needs no room";
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_TRUE(run(database->has_disk_space()));
  EXPECT_EQ(fail("53200"), ErrorCode::unavailable);
  EXPECT_TRUE(run(database->has_disk_space())) << "a lack of memory is no full disk";
}

TEST(Database, AQueryThatSomebodyCancelledIsWorthAnotherTry) {
  TestDatabase database(TestDatabase::Schema::empty);
  EXPECT_EQ(code_of(database->run([](pqxx::work& tx) -> int {
              tx.exec("SET LOCAL statement_timeout = '5ms'");
              return tx.exec("SELECT pg_sleep(5)").size();
            })),
            ErrorCode::unavailable);
}

TEST(Database, AnswersUnavailableWhenItsPatienceEnds) {
  TestDatabase database(TestDatabase::Schema::empty);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(code_of(database->run_within(std::chrono::milliseconds(50),
                                         [](pqxx::work& tx) -> int {
                                           tx.exec("SELECT pg_sleep(60)");
                                           return 1;
                                         })),
            ErrorCode::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(Database, TheServerEndsWhatNobodyWaitsFor) {
  TestDatabase database(TestDatabase::Schema::empty);
  Database single({.url = database.url(), .connections = 1});
  const auto sleep = [](pqxx::work& tx) -> int { return tx.exec("SELECT pg_sleep(60)").size(); };
  EXPECT_EQ(code_of(single.run_within(milliseconds(50), sleep)), ErrorCode::unavailable);
  EXPECT_EQ(run(single.run([](pqxx::work&) { return 1; })), 1);
}

// As of a gateway that is stopped there for a while.
TEST(Database, ATransactionThatDoesNothingLosesItsLocks) {
  TestDatabase database(TestDatabase::Schema::empty);
  run(database->run([](pqxx::work& tx) { tx.exec("CREATE TABLE t (a int)"); }));
  Database hasty({.url = database.url(), .connections = 1, .patience = milliseconds(500)});
  ASSERT_TRUE(answers(hasty));
  std::atomic<int> tries{0};
  std::atomic<bool> is_passed_on{false}, kept{false};
  const auto stall = [&](pqxx::work& tx) -> int {
    tx.exec("LOCK TABLE t");
    if (++tries == 1) kept = !test::eventually([&] { return is_passed_on.load(); });
    return tx.exec("INSERT INTO t VALUES (1)").affected_rows();
  };
  auto outcome = std::async(std::launch::async,
                            [&] { return run(hasty.run_within(milliseconds(10'000), stall)); });
  EXPECT_TRUE(test::eventually([&] { return tries > 0; }));
  { const Holder next(database.url(), "LOCK TABLE t"); }
  EXPECT_FALSE(kept);
  is_passed_on = true;
  EXPECT_EQ(outcome.get(), 1) << "the second try, on a new connection";
  const auto rows = [](pqxx::work& tx) { return tx.exec("SELECT FROM t").size(); };
  EXPECT_EQ(run(database->run(rows)), 1);
}

// Whoever began it was told that it is uncertain, and nobody else goes on with it.
TEST(Database, WhatWasGivenUpBeforeItsEndIsNotKept) {
  TestDatabase database(TestDatabase::Schema::empty);
  run(database->run([](pqxx::work& tx) { tx.exec("CREATE TABLE t (a int)"); }));
  Database hasty({.url = database.url(), .connections = 1, .patience = milliseconds(300)});
  ASSERT_TRUE(answers(hasty));
  std::atomic<bool> is_given_up{false};
  const auto slow = [&](pqxx::work& tx) -> int {
    const int added = tx.exec("INSERT INTO t VALUES (1)").affected_rows();
    EXPECT_TRUE(test::eventually([&] { return is_given_up.load(); }));
    return added;
  };
  EXPECT_EQ(code_of(hasty.run(slow)), ErrorCode::unavailable);
  is_given_up = true;
  EXPECT_TRUE(test::eventually([&] { return hasty.in_flight() == 0; }));
  const auto rows = [](pqxx::work& tx) { return tx.exec("SELECT FROM t").size(); };
  EXPECT_EQ(run(database->run(rows)), 0);
}

TEST(Database, WhatWasGivenUpNeverBegins) {
  TestDatabase database(TestDatabase::Schema::empty);
  Database single({.url = database.url(), .connections = 1});
  run(single.run([](pqxx::work& tx) { tx.exec("CREATE TABLE t (a int)"); }));
  {
    const Occupant busy(single);
    EXPECT_EQ(
        code_of(single.run_within(milliseconds(50),
                                  [](pqxx::work& tx) -> int {
                                    return tx.exec("INSERT INTO t VALUES (1)").affected_rows();
                                  })),
        ErrorCode::unavailable);
  }
  EXPECT_EQ(run(single.run(
                [](pqxx::work& tx) { return tx.exec1("SELECT count(*) FROM t")[0].as<int>(); })),
            0);
}

TEST(Database, ReportsLeaveTheOthersTheirConnections) {
  TestDatabase database(TestDatabase::Schema::empty);
  Database single({.url = database.url(), .connections = 1, .report_connections = 1});
  const Occupant busy(single, Occupant::Of::reports);
  EXPECT_EQ(run(single.run([](pqxx::work&) { return 1; })), 1);
}

TEST(Database, ACrowdOfReportsIsRefusedAndKeepsNobodyOut) {
  TestDatabase database(TestDatabase::Schema::empty);
  Database single({.url = database.url(),
                   .connections = 1,
                   .report_connections = 1,
                   .max_waiting = 1,
                   .max_waiting_reports = 1});
  const auto one = [](pqxx::work&) { return 1; };
  const Occupant busy(single, Occupant::Of::reports);
  EXPECT_EQ(code_of(single.report(milliseconds(5000), one)), ErrorCode::unavailable);
  EXPECT_EQ(run(single.run(one)), 1) << "not refused for the report";
}

TEST(Database, WhoseCallerWentNeverBegins) {
  TestDatabase database(TestDatabase::Schema::empty);
  Database single({.url = database.url(), .connections = 1});
  run(single.run([](pqxx::work& tx) { tx.exec("CREATE TABLE t (a int)"); }));
  auto busy = std::make_unique<Occupant>(single);
  const auto leave = [&]() -> Task<bool> {
    auto writing = single.run_within(milliseconds(10'000), [](pqxx::work& tx) -> int {
      return tx.exec("INSERT INTO t VALUES (1)").affected_rows();
    });
    const auto written = co_await with_timeout(milliseconds(50), std::move(writing));
    co_return written.has_value();
  };
  // Others hear of the server meanwhile, so that who waits goes on waiting.
  std::atomic<bool> gone = false;
  std::thread others([&] {
    const auto one = [](pqxx::work&) { return 1; };
    while (!gone) (void)run(attempt(single.report(milliseconds(5000), one)));
  });
  EXPECT_FALSE(run(leave()));
  gone = true;
  others.join();
  busy.reset();
  EXPECT_EQ(run(single.run(
                [](pqxx::work& tx) { return tx.exec1("SELECT count(*) FROM t")[0].as<int>(); })),
            0);
}

TEST(Database, ALockOfSomebodyElseKeepsNoConnection) {
  TestDatabase database(TestDatabase::Schema::empty);
  run(database->run([](pqxx::work& tx) { tx.exec("CREATE TABLE t (a int)"); }));
  Database single({.url = database.url(),
                   .connections = 1,
                   .report_connections = 1,
                   .patience = milliseconds(200)});
  const Holder holder(database.url(), "LOCK TABLE t");
  const auto read = [](auto& tx) -> int { return tx.exec("SELECT FROM t").size(); };
  const auto begin = std::chrono::steady_clock::now();
  const auto long_work = milliseconds(60'000);
  EXPECT_EQ(code_of(single.run_within(long_work, read)), ErrorCode::unavailable);
  EXPECT_EQ(code_of(single.report(long_work, read)), ErrorCode::unavailable);
  const auto one = [](pqxx::nontransaction& tx) -> int { return tx.exec("SELECT FROM t").size(); };
  EXPECT_EQ(code_of(single.run_statement(one)), ErrorCode::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(10'000));
  EXPECT_TRUE(answers(single));
}

TEST(Database, LongWorkIsCutOnlyWhereItWaits) {
  TestDatabase database(TestDatabase::Schema::empty);
  Database single({.url = database.url(), .connections = 1, .patience = milliseconds(400)});
  ASSERT_TRUE(answers(single));
  const auto sleep = [](pqxx::work& tx) -> int { return tx.exec("SELECT pg_sleep(1.2)").size(); };
  EXPECT_EQ(run(single.run_within(milliseconds(10'000), sleep)), 1);
}

TEST(Conninfo, AddsLimitsThatAreNotThere) {
  const std::string text = conninfo_with_timeouts("postgresql://me@db/sandgate?tcp_user_timeout=7");
  EXPECT_NE(text.find("tcp_user_timeout='7'"), text.npos) << text;
  EXPECT_NE(text.find("connect_timeout='5'"), text.npos) << text;
  EXPECT_NE(text.find("host='db'"), text.npos) << text;
  EXPECT_EQ(conninfo_with_timeouts("nonsense"), "nonsense");
}

TEST(Database, ComesBackAfterTheServerWasKilled) {
  const test::OwnCluster own;
  TestDatabase database(TestDatabase::Schema::empty);
  const auto ask = [&] {
    return database->run(
        [](pqxx::work& tx) { return run_prepared(tx, "SELECT 1")[0][0].as<int>(); });
  };
  EXPECT_EQ(run(ask()), 1);
  TestDatabase::stop_cluster();
  EXPECT_EQ(code_of(ask()), ErrorCode::unavailable);
  TestDatabase::start_cluster();
  // It waits between two tries to connect.
  EXPECT_TRUE(test::eventually([&] { return std::holds_alternative<int>(run(attempt(ask()))); }));
}

TEST(Migrate, AppliesOnceAndRefusesAChangedHistory) {
  TestDatabase database(TestDatabase::Schema::empty);
  const std::vector<Migration> first{{"0001_a", "CREATE TABLE a (x int)"}};
  EXPECT_EQ(run(migrate(*database, first)).size(), 1u);
  EXPECT_EQ(run(migrate(*database, first)).size(), 0u);
  const std::vector<Migration> changed{{"0001_a", "CREATE TABLE b (x int)"}};
  EXPECT_THROW(run(migrate(*database, changed)), Error);
  const std::vector<Migration> earlier{{"0000_z", "SELECT 1"}, first[0]};
  EXPECT_THROW(run(migrate(*database, earlier)), Error);
  EXPECT_THROW(run(migrate(*database, {})), Error);
  const std::vector<Migration> next{first[0], {"0002_b", "CREATE TABLE b (x int)"}};
  EXPECT_EQ(run(migrate(*database, next)), std::vector<std::string>{"0002_b"});
}

TEST(Migrate, WaitsForWhoHoldsWhatItChanges) {
  TestDatabase database(TestDatabase::Schema::empty);
  run(database->run([](pqxx::work& tx) { tx.exec("CREATE TABLE t (a int)"); }));
  Database impatient({.url = database.url(), .connections = 1, .patience = milliseconds(300)});
  auto holder = std::make_unique<Holder>(database.url(), "SELECT FROM t");
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(800));
    holder.reset();
  });
  const std::vector<Migration> change{{"0001_b", "ALTER TABLE t ADD COLUMN b int"}};
  EXPECT_EQ(run(migrate(impatient, change)).size(), 1u);
  later.join();
}

TEST(Migrate, WhoCannotWorkWithoutTablesWaitsForThem) {
  test::TestDatabase database(test::TestDatabase::Schema::empty);
  try {
    run(await_schema(*database, std::chrono::milliseconds(1)));
    ADD_FAILURE() << "there is none";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::unavailable);
    EXPECT_NE(std::string(error.what()).find("sandgate serve"), std::string::npos);
  }
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    run(migrate(*database, {{"0001_a", "CREATE TABLE a (x int)"}}));
  });
  run(await_schema(*database, std::chrono::seconds(10)));
  later.join();
}

}  // namespace
}  // namespace sandgate
