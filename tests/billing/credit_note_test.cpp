#include "billing/budgets/budget_store.hpp"
#include "billing/invoices/invoice_page.hpp"
#include "billing/invoices/invoices.hpp"
#include "billing/ledger/ledger.hpp"
#include "tests/billing/billing_fixture.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::dec;
using test::run;

// Every invoice is of 100 seconds at a dime.
class CreditNoteTest : public test::BillingFixture {
 protected:
  void SetUp() override {
    publish("list", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
      "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.1"}]})");
  }

  Invoice draft_of_day(const std::string& day) {
    clock.set(day + "T10:00:00Z");
    const auto id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
    clock.advance(100s);
    close(id);
    return run(invoices.draft(
        {.tenant = tenant, .from = at(day + "T00:00:00Z"), .to = at(day + "T23:00:00Z")}));
  }
  Invoice issue_of_day(const std::string& day) { return run(invoices.issue(draft_of_day(day).id)); }

  Invoice credit(const Invoice& invoice, const char* amount) {
    return run(invoices.credit(invoice.id, dec(amount), "it was down"));
  }
  Decimal balance(const std::string& account) {
    return run(database->run([&](pqxx::work& tx) { return credit_balance(tx, account, "USD"); }));
  }
  void ask_the_oracle() {
    const std::string command = "python3 " SANDGATE_ORACLE " '" + database.url() + "'";
    EXPECT_EQ(std::system(command.c_str()), 0);
  }

  Invoices invoices{*database};
  Budgets enforced{books};
  BudgetStore budgets{*database, enforced};
};

TEST_F(CreditNoteTest, TakesBackAndLeavesTheInvoiceAsItWas) {
  const Invoice issued = issue_of_day("2026-10-10");
  EXPECT_EQ(issued.total, dec("10"));
  const Json before = to_json(issued);
  const Invoice credited = credit(issued, "2.5");
  EXPECT_EQ(credited.due(), dec("7.5"));
  EXPECT_EQ(-balance(receivable_of(tenant)), dec("7.5"));
  EXPECT_EQ(balance(std::string(kRevenue)), dec("7.5"));
  Json after = to_json(credited);
  EXPECT_EQ(after["credit_notes"][0]["amount"], "2.50");
  EXPECT_EQ(after["credit_notes"][0]["reason"], "it was down");
  EXPECT_EQ(after["due"], "7.50");
  EXPECT_NE(to_html(credited).find("Taken back 2.50"), std::string::npos);
  EXPECT_NE(to_html(credited).find("Due 7.50 USD"), std::string::npos);
  after.erase("credit_notes");
  after["due"] = before["due"];
  EXPECT_EQ(after, before);
  EXPECT_EQ(to_csv(credited), to_csv(issued));
  EXPECT_EQ(run(invoices.list(tenant, std::nullopt, 10))[0].due(), dec("7.5"));
  ask_the_oracle();
}

TEST_F(CreditNoteTest, WhatWasPaidBecomesCreditsThatPayTheOthers) {
  run(budgets.put(budget_from(parse_json(R"({"amount":"100","currency":"USD","window":"total"})"),
                              tenant, "all")));
  run(budgets.add_credits(tenant, {dec("8"), "USD"}, "trial"));
  const Invoice first = issue_of_day("2026-10-10");
  const Invoice second = issue_of_day("2026-10-11");
  EXPECT_EQ(first.due(), dec("2"));
  const Invoice credited = credit(first, "5");  // 2 were owed, 3 were paid
  EXPECT_EQ(credited.due(), dec("0"));
  EXPECT_EQ(credited.returned(), dec("3"));
  EXPECT_EQ(to_json(credited)["returned"], "3.00");
  EXPECT_EQ(to_json(first)["returned"], "0.00");
  EXPECT_NE(to_html(credited).find("3.00 had been paid and went to the prepaid balance"),
            std::string::npos);
  EXPECT_EQ(to_html(first).find("prepaid balance"), std::string::npos);
  EXPECT_EQ(run(invoices.get(second.id)).due(), dec("7"));
  EXPECT_EQ(-balance(receivable_of(tenant)), dec("7"));
  EXPECT_EQ(balance(credits_of(tenant)), dec("0"));
  EXPECT_EQ(run(budgets.list(tenant))[0].credits, dec("11"));
  ask_the_oracle();
  run(budgets.add_credits(tenant, {dec("9"), "USD"}, "more"));
  EXPECT_EQ(balance(credits_of(tenant)), dec("2")) << "the first is paid for good";
  ask_the_oracle();
}

TEST_F(CreditNoteTest, RefusesNonsense) {
  const Invoice draft = draft_of_day("2026-10-10");
  EXPECT_EQ(test::code_of([&] { credit(draft, "1"); }), ErrorCode::conflict);
  const Invoice issued = run(invoices.issue(draft.id));
  for (const char* amount : {"0", "-1", "0.001", "10.01"})
    EXPECT_EQ(test::code_of([&] { credit(issued, amount); }), ErrorCode::invalid) << amount;
  credit(issued, "4");
  EXPECT_EQ(test::code_of([&] { credit(issued, "6.01"); }), ErrorCode::invalid);
  EXPECT_EQ(credit(issued, "6").due(), dec("0"));
  EXPECT_EQ(test::code_of([&] { run(invoices.credit(InvoiceId::make(), dec("1"), "x")); }),
            ErrorCode::not_found);
  for (const std::string change :
       {"UPDATE credit_note SET amount = 1", "DELETE FROM credit_note", "TRUNCATE credit_note"})
    EXPECT_THROW(run(database->run([&](pqxx::work& tx) { tx.exec(change); })), Error) << change;
  ask_the_oracle();
}

}  // namespace
}  // namespace sandgate
