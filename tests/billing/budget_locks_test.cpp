#include <gtest/gtest.h>

#include <future>

#include <pqxx/pqxx>

#include "billing/budgets/budget_rows.hpp"
#include "tests/billing/budget_fixture.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;
using BudgetLocksTest = BudgetFixture;

// Bookings of several tenants lock their budgets by id.
TEST_F(BudgetLocksTest, BudgetsOfSeveralTenantsAreReleasedInTheOrderOfBookings) {
  const std::string three = R"({"amount":"3","currency":"USD","window":"total"})";
  TenantId later = TenantId::make();
  run(database->run([&](pqxx::work& tx) {
    tx.exec_params("INSERT INTO tenant (id, name) VALUES ($1, 'other')", later.value);
  }));
  if (later.value < tenant.value) std::swap(later, tenant);
  const TenantId earlier = std::exchange(tenant, later);
  put(three);
  const SandboxId first = start();
  tenant = earlier;
  put(three);
  const SandboxId second = start();
  pqxx::connection other(database.url());
  pqxx::work booking(other);
  booking.exec_params("SELECT FROM budget WHERE tenant = $1 FOR UPDATE", later.value);
  auto releasing = std::async(std::launch::async, [&] {
    run(database->run([&](pqxx::work& tx) {
      books.lock(tx, &clock);
      release_reservations(tx, {first.value, second.value}, &clock);
    }));
  });
  EXPECT_TRUE(eventually([&] { return database.has_lock_waiter(); }));
  EXPECT_NO_THROW(
      booking.exec_params("SELECT FROM budget WHERE tenant = $1 FOR UPDATE NOWAIT", earlier.value));
  booking.commit();
  releasing.get();
  EXPECT_TRUE(rows("SELECT sandbox FROM reservation").empty());
}

// One that has to be judged by the gateway goes on to lock all of them, by their ids.
TEST_F(BudgetLocksTest, ACreateLocksBudgetsThatDoNotPayForItAsWell) {
  put(R"({"amount":"3","currency":"USD","window":"total","applies_to":{"metadata":{"a":"b"}}})");
  put(R"({"amount":"3","currency":"USD","window":"total"})", "whole");
  pqxx::connection other(database.url()), third(database.url());
  pqxx::work setting(other);
  setting.exec("SELECT FROM budget WHERE name = 'main' FOR UPDATE");
  auto reserving = std::async(std::launch::async, [&] { return reserve(SandboxId::make()); });
  EXPECT_TRUE(eventually([&] { return database.has_lock_waiter(); }));
  EXPECT_NO_THROW(
      pqxx::work(third).exec("SELECT FROM budget WHERE name = 'whole' FOR UPDATE NOWAIT"));
  setting.commit();
  EXPECT_FALSE(reserving.get());
}

// A create locks the budgets next: with the row, it would wait for who holds them and wants the
// row.
TEST_F(BudgetLocksTest, AReservationThatChangedMeanwhileIsNotKeptLocked) {
  put(R"({"amount":"3","currency":"USD","window":"total"})");
  const SandboxId id = start();
  pqxx::connection other(database.url()), third(database.url());
  pqxx::work changing(other), wanting(third);
  changing.exec_params("UPDATE reservation SET held = 0.5 WHERE sandbox = $1", id.value);
  auto adjusting = std::async(std::launch::async, [&] {
    run(database->run([&](pqxx::work& tx) {
      const Reservation known{.sandbox = id.value,
                              .currency = "USD",
                              .charge_per_hour = dec("3.6"),
                              .held = dec("0.6")};
      EXPECT_FALSE(try_fast_adjust(tx, known, 600s, 600s, &clock));
      wanting.exec_params("SELECT FROM reservation WHERE sandbox = $1 FOR UPDATE NOWAIT", id.value);
    }));
  });
  EXPECT_TRUE(eventually([&] { return database.has_lock_waiter(); }));
  changing.commit();
  EXPECT_NO_THROW(adjusting.get());
  wanting.commit();
  EXPECT_EQ(rows("SELECT trim_scale(held) FROM reservation"), std::vector<std::string>{"0.5"});
}

}  // namespace
}  // namespace sandgate::test
