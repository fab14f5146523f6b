#include "billing/invoices/credits.hpp"

#include <thread>

#include "tests/billing/budget_fixture.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

using Credits = BudgetFixture;

// Whoever waits for the first budget holds none behind it: creates lock them in that order too.
TEST_F(Credits, LockBudgetsInTheOrderOfTheirIds) {
  const std::string total = R"({"amount":"1","currency":"USD","window":"total"})";
  for (const char* name : {"z", "a", "z"}) put(total, name);  // the older one's row is stored last
  pqxx::connection other(database.url());
  pqxx::work create(other);
  create.exec("SELECT FROM budget WHERE name = 'z' FOR UPDATE");
  std::thread adding([&] { run(store.add_credits(tenant, {dec("1"), "USD"}, "more")); });
  EXPECT_TRUE(eventually([&] { return database.has_lock_waiter(); }));
  EXPECT_NO_THROW(create.exec("SELECT FROM budget WHERE name = 'a' FOR UPDATE NOWAIT"));
  create.abort();
  adding.join();
  for (const Budget& one : run(store.list(tenant))) EXPECT_EQ(one.credits, dec("1"));
}

}  // namespace
}  // namespace sandgate::test
