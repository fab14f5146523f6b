#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sandgate
