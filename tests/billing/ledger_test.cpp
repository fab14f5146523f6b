#include "billing/ledger/ledger.hpp"

#include <optional>

#include "billing/ledger/ledger_rollup.hpp"
#include "tests/billing/billing_fixture.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate::test {
namespace {

using Ids = std::vector<int64_t>;

class Ledger : public BillingFixture {
 protected:
  // One unit of usage of the fixture's tenant.
  void post_before(const std::string& age) {
    run(database->run([&](pqxx::work& tx) {
      const auto id = tx.exec_params1(
          "INSERT INTO ledger_transfer (at, currency, reason, tenant)"
          " VALUES (now() - $1::interval, 'USD', 'usage', $2) RETURNING id",
          age, tenant.value)[0];
      tx.exec_params(
          "INSERT INTO ledger_entry (transfer, position, account, debit, credit)"
          " VALUES ($1, 1, $2, 1, 0), ($1, 2, 'revenue', 0, 1)",
          id.as<int64_t>(), receivable_of(tenant));
    }));
  }
  std::vector<int64_t> ids(const LedgerQuery& query) {
    std::vector<int64_t> found;
    for (const LedgerTransfer& one :
         run(database->run([&](pqxx::work& tx) { return read_ledger(tx, query); })))
      found.push_back(one.id);
    return found;
  }
  // "account debit credit" of each.
  std::vector<std::string> balances(std::optional<TenantId> of = std::nullopt) {
    std::vector<std::string> all;
    for (const AccountBalance& one :
         run(database->run([&](pqxx::work& tx) { return read_balances(tx, of); })))
      all.push_back(one.account + " " + one.debit.to_string() + " " + one.credit.to_string());
    return all;
  }
  std::string closed_through() { return rows("SELECT through FROM ledger_closing")[0]; }
};

TEST_F(Ledger, AnAccountHasItsTransfersInOrder) {
  post_before("2 days");
  run(database->run([&](pqxx::work& tx) { post_loss(tx, "acme", {Decimal(1), "USD"}, "late"); }));
  for (int i = 0; i < 2; ++i) post_before("1 hour");
  EXPECT_EQ(ids({}), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(ids({.account = "revenue"}), (Ids{1, 3, 4}));
  EXPECT_EQ(ids({.account = "revenue", .after = 1, .limit = 1}), Ids{3});
  EXPECT_EQ(ids({.account = "loss"}), Ids{2});
  EXPECT_EQ(ids({.tenant = tenant, .account = "loss"}), Ids());
  EXPECT_EQ(ids({.tenant = tenant, .account = "revenue", .from = Time()}), (Ids{1, 3, 4}));
}

TEST_F(Ledger, ATimeHasItsTransfers) {
  using std::chrono::days;
  // As transactions draw ids and times that overlap.
  for (const char* age : {"9 days", "7 days", "8 days", "5 days", "1 hour", "2 hours", "0 hours"})
    post_before(age);
  const auto ago = [](double number) {
    return SystemClock().now() - std::chrono::duration_cast<Time::duration>(number * days(1));
  };
  EXPECT_EQ(ids({.from = ago(7.5)}), (Ids{2, 4, 5, 6, 7}));
  EXPECT_EQ(ids({.to = ago(7.5)}), (Ids{1, 3}));
  EXPECT_EQ(ids({.from = ago(8.5), .to = ago(4)}), (Ids{2, 3, 4}));
  EXPECT_EQ(ids({.from = ago(8.5), .to = ago(4), .after = 2, .limit = 1}), Ids{3});
  EXPECT_EQ(ids({.account = "revenue", .from = ago(6), .to = ago(1.5 / 24)}), (Ids{4, 6}));
  EXPECT_EQ(ids({.tenant = tenant, .from = ago(1)}), (Ids{5, 6, 7}));
  EXPECT_EQ(ids({.from = ago(-9)}), Ids());
  EXPECT_EQ(ids({.to = ago(99)}), Ids());
  EXPECT_EQ(ids({.from = Time(), .to = ago(-99)}), (Ids{1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(Ledger, WhatLiesBeforeATimeIsNotLookedAt) {
  post_before("0 days");  // as no transaction would: with the id of days ago
  for (const char* age : {"9 days", "5 days", "0 days"}) post_before(age);
  const Time yesterday = SystemClock().now() - std::chrono::days(1);
  EXPECT_EQ(ids({.from = yesterday}), Ids{4});
  EXPECT_EQ(ids({.account = "revenue", .from = yesterday}), Ids{4});
}

TEST_F(Ledger, WhatLiesAfterATimeIsNotLookedAt) {
  for (const char* age : {"9 days", "5 days", "0 days"}) post_before(age);
  post_before("5 days");  // as no transaction would
  const Time before = SystemClock().now() - std::chrono::days(3);
  EXPECT_EQ(ids({.to = before}), (Ids{1, 2}));
  EXPECT_EQ(ids({.account = "revenue", .to = before}), (Ids{1, 2}));
}

TEST_F(Ledger, ClosingChangesNoBalance) {
  for (int i = 0; i < 5; ++i) post_before("2 days");
  for (int i = 0; i < 2; ++i) post_before("1 hour");
  const std::vector<std::string> all{"revenue 0 7", receivable_of(tenant) + " 7 0"};
  for (const size_t closed : {0u, 2u, 2u, 1u, 0u}) {
    if (closed > 0 || closed_through() != "0") {
      EXPECT_EQ(run(roll_up_ledger(*database, 2)), closed);
    }
    EXPECT_EQ(balances(), all);
    EXPECT_EQ(balances(tenant), std::vector{all[1]});
    EXPECT_EQ(balances(TenantId::make()), std::vector<std::string>());
  }
  EXPECT_EQ(closed_through(), "5") << "what is younger than a day stays open";
  post_before("0 days");
  EXPECT_EQ(balances(tenant), std::vector{receivable_of(tenant) + " 8 0"});
}

TEST_F(Ledger, BalancesBeginWithWhatIsClosed) {
  for (int i = 0; i < 3; ++i) post_before("2 days");
  EXPECT_EQ(run(roll_up_ledger(*database)), 3u);
  // As if an entry of then were not looked at.
  run(database->run(
      [](pqxx::work& tx) { tx.exec("UPDATE ledger_closed SET debit = 10 * debit"); }));
  EXPECT_EQ(balances(tenant), std::vector{receivable_of(tenant) + " 30 0"});
}

TEST_F(Ledger, NothingIsPostedBelowWhatIsClosed) {
  post_before("2 days");
  EXPECT_EQ(run(roll_up_ledger(*database)), 1u);
  const auto post_at = [&](int64_t id) {
    run(database->run([&](pqxx::work& tx) {
      tx.exec_params("INSERT INTO ledger_transfer (id, currency, reason) VALUES ($1, 'USD', 'odd')",
                     id);
      tx.exec_params("INSERT INTO ledger_entry VALUES ($1, 1, 'cost', 1, 0), ($1, 2, 'x', 0, 1)",
                     id);
    }));
  };
  EXPECT_TRUE(code_of([&] { post_at(0); }));
  EXPECT_NO_THROW(post_at(7));
}

}  // namespace
}  // namespace sandgate::test
