#include <gtest/gtest.h>

#include <thread>

#include "tests/billing/budget_fixture.hpp"

namespace sandgate {
namespace {

using test::dec;
using namespace std::chrono_literals;
using test::run;

class BudgetRoundsTest : public test::BudgetFixture {};

TEST_F(BudgetRoundsTest, CountingALongPastKeepsNobodyFromBooking) {
  for (int i = 0; i < 8; ++i) {
    const auto id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
    clock.advance(100s);
    close(id);
  }
  // 16 events at 0.2 s each are longer than anybody waits who books.
  run(database->run([](pqxx::work& tx) {
    tx.exec(R"(CREATE OR REPLACE FUNCTION budget_subject(profile text, key text, metadata jsonb)
      RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
        PERFORM pg_sleep(0.2);
        RETURN jsonb_build_object('profile', profile, 'key', key, 'metadata', metadata);
      END $$)");
  }));
  std::thread putting(
      [&] { put(R"({"amount":"2","currency":"USD","window":"total","on_exceeded":"deny"})"); });
  while (rows("SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'").empty())
    std::this_thread::yield();
  EXPECT_NO_THROW(open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0}));
  putting.join();
  EXPECT_EQ(budget().spent, dec("0.8"));
}

}  // namespace
}  // namespace sandgate
