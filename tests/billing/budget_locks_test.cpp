#include <gtest/gtest.h>

#include <future>

#include <pqxx/pqxx>

#include "billing/budget_rows.hpp"
#include "tests/billing/budget_fixture.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

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

}  // namespace
}  // namespace sandgate::test
