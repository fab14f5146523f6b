#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <thread>

#include "tests/exports/exports_fixture.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::run;

using ExportRounds = test::ExportsFixture;

// A booking that is undone leaves a gap in the numbers, of thousands after a failed flush.
TEST_F(ExportRounds, NumbersWithoutAnEventDelayNothing) {
  put(settings({{tenant.value, "cus_one"}}));
  run(database->run([](pqxx::work& tx) { tx.exec("SELECT setval('usage_sequence', 1000)"); }));
  use(100s);
  drain();
  EXPECT_EQ(received(), used());
}

// Who died in a round holds others up for as long as a lease: it must not be as long as a round.
TEST_F(ExportRounds, ARoundKeepsItsLeaseUntilItIsOver) {
  const auto told = [&](const std::string& sql) {
    return run(database->run([&](pqxx::work& tx) {
      return tx.exec1("SELECT " + sql + " FROM export")[0].as<std::string>();
    }));
  };
  put(settings({{tenant.value, "cus_one"}}));
  use(100s);
  receiver.fault({{"status", 503}, {"times", 1}, {"seconds", 4}});
  ExportRunner impatient{*database, cipher, http, clock, false, 1s};
  std::thread round([&] { run(impatient.run_once()); });
  EXPECT_TRUE(test::eventually([&] { return told("lease_until > now()") == "t"; }));
  const std::string first = told("lease_until");
  EXPECT_TRUE(test::eventually(
      [&] { return told("lease_until > '" + first + "'::timestamptz + interval '1 s'") == "t"; }));
  round.join();
  EXPECT_EQ(told("lease_until <= now() AND failures = 1"), "t");
}

// One that takes most of what it gets would else fall behind, minutes after each thing it refuses.
TEST_F(ExportRounds, PausesGrowOnlyWhileNothingIsTaken) {
  const auto fails_again = [&] {
    run(database->run([](pqxx::work& tx) { tx.exec("UPDATE export SET next_try_at = now()"); }));
    run(runner.run_once());
    return run(database->run([](pqxx::work& tx) {
      const auto told =
          tx.exec1("SELECT failures, next_try_at <= now() + interval '2 s' FROM export");
      return std::pair(told[0].as<int>(), told[1].as<bool>());
    }));
  };
  const auto soon = [](int failures) { return std::pair(failures, true); };
  const TenantId first = tenant, second = TenantId::make();
  put(settings({{first.value, "cus_one"}, {second.value, "cus_two"}}));
  use(100s);
  receiver.fault({{"status", 503}, {"times", 1000}});
  EXPECT_EQ(fails_again(), soon(1));
  EXPECT_EQ(fails_again(), std::pair(2, false));
  tenant = second;
  use(100s);
  receiver.fault({{"status", 503}, {"times", 1000}, {"only", "cus_two"}});
  EXPECT_EQ(fails_again(), soon(1)) << "the first tenant's was taken";
  EXPECT_EQ(fails_again(), std::pair(2, false));
}

// A removal locks the export first, and its dead letters then.
TEST_F(ExportRounds, ARemovalMeetsNoRoundHalfway) {
  const auto meets_a_round = [&] {
    receiver.fault({{"status", 400}, {"times", 1}, {"seconds", 1}});
    std::thread round([&] { run(runner.run_once()); });
    const auto is_taken = [](pqxx::work& tx) {
      return tx.exec1("SELECT lease_until > now() FROM export")[0].as<bool>();
    };
    EXPECT_TRUE(test::eventually([&] { return run(database->run(is_taken)); }));
    pqxx::connection connection(database.url());
    pqxx::work removal(connection);
    removal.exec("SELECT FROM export FOR UPDATE");
    EXPECT_TRUE(test::eventually([&] { return database.has_lock_waiter(); }));
    EXPECT_NO_THROW(removal.exec("SELECT FROM export_dead_letter FOR UPDATE NOWAIT"));
    removal.abort();
    round.join();
    EXPECT_EQ(row().dead_letters, 1);
  };
  put(settings({{tenant.value, "cus_unknown"}}));
  use(10s);
  drain();
  ASSERT_EQ(row().dead_letters, 1);
  EXPECT_EQ(run(store.retry("out", {})), 1u);
  meets_a_round();
  run(database->run([](pqxx::work& tx) { tx.exec("UPDATE export SET cursor = 0"); }));
  meets_a_round();
}

class PacedExports : public test::ExportsFixture {
 protected:
  void add(const std::string& name, test::Receiver& to) {
    ExportStore::Draft draft{.name = name, .kind = "webhook"};
    draft.settings = {{"url", to.url() + "/hook"}, {"allow_private", true}};
    draft.secrets = {{"secret", Secret("whsec-0123456789abcdef")}};
    run(store.put(draft, {}));
  }
  // Of three batches.
  void make_backlog() {
    for (const int booked_before : {1000, 2000, 3000}) {
      use(100s);
      run(database->run([=](pqxx::work& tx) {
        tx.exec("SELECT setval('usage_sequence', " + std::to_string(booked_before) + ")");
      }));
    }
  }
  static size_t sandboxes_at(test::Receiver& at) {
    std::set<std::string> found;
    const Json state = at.state();
    for (const Json& event : state["hooks"]) found.insert(event["sandbox"]);
    return found.size();
  }
  // Runs the exports until that is so.
  void run_until(const std::function<bool()>& is_so, std::chrono::seconds most) {
    asio::thread_pool pool(1);
    asio::co_spawn(pool, runner.run(), [](std::exception_ptr) {});
    const auto limit = std::chrono::steady_clock::now() + most;
    while (!is_so() && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(50ms);
    pool.stop();
    pool.join();
    // What the database still works on is told to the pool.
    EXPECT_TRUE(test::eventually([&] { return database->in_flight() == 0; }));
  }

  test::Receiver second, third;
};

// Not even once it has begun: the other's backlog is several batches long.
TEST_F(PacedExports, ASlowReceiverDelaysNoOther) {
  add("a", receiver);
  add("b", second);
  make_backlog();
  receiver.fault({{"status", 503}, {"times", 1}, {"seconds", 6}});
  run_until([&] { return sandboxes_at(second) == 3; }, 5s);
  EXPECT_EQ(sandboxes_at(second), 3u);
  EXPECT_EQ(sandboxes_at(receiver), 0u) << "it is still at its first";
}

TEST_F(PacedExports, TheLastPlaceIsSharedByThoseThatWait) {
  for (int i = 0; i < 31; ++i) add("slow-" + std::to_string(i), receiver);
  add("y", second);
  add("z", third);
  make_backlog();
  receiver.fault({{"status", 503}, {"times", 31}, {"seconds", 60}});
  run_until([&] { return sandboxes_at(second) == 3 && sandboxes_at(third) == 3; }, 10s);
  EXPECT_EQ(sandboxes_at(second), 3u);
  EXPECT_EQ(sandboxes_at(third), 3u);
}

}  // namespace
}  // namespace sandgate
