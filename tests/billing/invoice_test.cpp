#include "billing/invoices/invoices.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "billing/budgets/budget_store.hpp"
#include "billing/ledger/ledger.hpp"
#include "billing/ledger/reconciliation.hpp"
#include "billing/prices/price_rows.hpp"
#include "billing/usage/booking_watermark.hpp"
#include "gateway/core/moment.hpp"
#include "gateway/core/statement.hpp"
#include "tests/billing/billing_fixture.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate {
namespace {

using test::at;
using test::dec;
using namespace std::chrono_literals;
using test::run;

class InvoiceTest : public test::BillingFixture {
 protected:
  void SetUp() override {
    publish("list", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
      "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.0001"},
                 {"provider":"acme","meter":"memory_gib_second","unit_price":"0.00001"}]})");
    publish("sell", R"({"kind":"charge","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
      "markup_percent":"33","entries":[
        {"provider":"acme","meter":"memory_gib_second","unit_price":"0.00007"}]})");
    clock.set("2026-10-10T12:00:00Z");
  }

  void use(std::chrono::seconds time) {
    const auto id = open({.milli_vcpu = 1500, .memory_mib = 700, .disk_gib = 1});
    clock.advance(time);
    close(id);
  }

  Invoice draft(std::string_view from = "2026-10-01T00:00:00Z",
                std::string_view to = "2026-11-01T00:00:00Z") {
    return run(invoices.draft({.tenant = tenant, .from = at(from), .to = at(to)}));
  }

  Decimal balance(const std::string& account) {
    return run(database->run([&](pqxx::work& tx) { return credit_balance(tx, account, "USD"); }));
  }

  // The independent calculation agrees with everything that is booked.
  void ask_the_oracle() {
    const std::string command = "python3 " SANDGATE_ORACLE " '" + database.url() + "' 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    std::string said;
    for (char buffer[4096]; size_t n = fread(buffer, 1, sizeof buffer, pipe);)
      said.append(buffer, n);
    EXPECT_EQ(pclose(pipe), 0) << said;
  }

  Invoices invoices{*database};
  Budgets enforced{books};
  BudgetStore budgets{*database, enforced};
};

TEST_F(InvoiceTest, RoundsOncePerLineHalfToEven) {
  use(100s);
  const Invoice invoice = draft();
  ASSERT_EQ(invoice.lines.size(), 2u);
  EXPECT_EQ(invoice.lines[0].meter, "memory_gib_second");
  EXPECT_EQ(invoice.lines[0].unit_price, dec("0.00007"));
  EXPECT_EQ(invoice.lines[0].amount_exact, dec("0.00478515625"));
  EXPECT_EQ(invoice.lines[0].amount, dec("0"));
  EXPECT_EQ(invoice.lines[1].quantity, dec("150"));
  EXPECT_EQ(invoice.lines[1].unit_price, dec("0.000133"));
  EXPECT_EQ(invoice.lines[1].amount_exact, dec("0.01995"));
  EXPECT_EQ(invoice.lines[1].amount, dec("0.02"));
  EXPECT_EQ(invoice.total, dec("0.02"));
}

TEST_F(InvoiceTest, IsOfOneCurrencyAndADraftNamesTheOthers) {
  const auto charge_in = [&](const std::string& deployment, const std::string& currency) {
    insert_version("sell-" + deployment, "2026-01-01T00:00:00Z",
                   R"({"kind":"charge","effective_from":"2027-01-01T00:00:00Z","currency":")" +
                       currency + R"(","entries":[{"provider":"acme","deployment":")" + deployment +
                       R"(","meter":"vcpu_second","unit_price":"1"}]})");
    run(books.load());
    MeteredSandbox sandbox{.id = SandboxId::make(),
                           .tenant = tenant,
                           .profile = "python",
                           .profile_version = 1,
                           .deployment = deployment,
                           .provider = "acme",
                           .region = "eu",
                           .resources = {.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0}};
    run(database->run([&](pqxx::work& tx) { meter.open(tx, sandbox); }));
    clock.advance(100s);
    close(sandbox.id);
  };
  using Names = std::vector<std::string>;
  charge_in("kyoto", "JPY");
  charge_in("paris", "EUR");
  EXPECT_EQ(draft().currency, "EUR") << "the first by name, not the largest number";
  EXPECT_EQ(draft().other_currencies, Names{"JPY"});
  use(10s);
  const Invoice dollars = draft();
  EXPECT_EQ(dollars.currency, "USD");
  EXPECT_EQ(dollars.other_currencies, (Names{"EUR", "JPY"}));
  EXPECT_EQ(run(invoices.get(dollars.id)).other_currencies, (Names{"EUR", "JPY"}));
  EXPECT_FALSE(to_json(run(invoices.issue(dollars.id))).contains("other_currencies"));
  const Invoice yen = run(invoices.draft({.tenant = tenant,
                                          .from = at("2026-10-01T00:00:00Z"),
                                          .to = at("2026-11-01T00:00:00Z"),
                                          .currency = "JPY"}));
  EXPECT_EQ(yen.currency, "JPY");
  EXPECT_EQ(yen.total, dec("100"));
  EXPECT_EQ(yen.other_currencies, (Names{"EUR", "USD"}));
}

TEST_F(InvoiceTest, ADraftIsReadWithoutTheUsageOfItsTime) {
  use(1000s);
  const Invoice drafted = draft();
  pqxx::connection other(database.url());
  pqxx::work holding(other);
  holding.exec("LOCK TABLE usage_event");
  EXPECT_EQ(to_json(run(invoices.get(drafted.id))), to_json(drafted));
}

TEST_F(InvoiceTest, AnIssuedOneIsAFactAndLateUsageAdjustsTheNext) {
  use(1000s);
  const Invoice issued = run(invoices.issue(draft().id));
  EXPECT_EQ(issued.state, InvoiceState::issued);
  const std::string before = to_json(run(invoices.get(issued.id))).dump();
  use(5000s);  // late: in October, after October was issued
  clock.set("2026-11-05T00:00:00Z");
  use(2000s);
  EXPECT_EQ(to_json(run(invoices.issue(issued.id))).dump(), before);
  EXPECT_THROW(draft(), Error);
  EXPECT_THROW(draft("2026-10-31T00:00:00Z", "2026-11-10T00:00:00Z"), Error);
  const Invoice next = draft("2026-11-01T00:00:00Z", "2026-11-15T00:00:00Z");
  ASSERT_EQ(next.lines.size(), 4u);
  EXPECT_FALSE(next.lines[0].adjusts);
  EXPECT_EQ(next.lines[2].adjusts, issued.id);
  EXPECT_EQ(next.lines[3].quantity, dec("7500"));
  run(invoices.issue(next.id));
  const Invoice third = draft("2026-11-15T00:00:00Z", "2026-11-16T00:00:00Z");
  EXPECT_TRUE(third.lines.empty());
  ask_the_oracle();
}

TEST_F(InvoiceTest, IssuingKeepsNobodyFromBooking) {
  use(1000s);
  const InvoiceId id = draft().id;
  pqxx::connection other(database.url());
  pqxx::work holding(other);
  holding.exec_params("SELECT FROM invoice WHERE id = $1 FOR UPDATE", id.value);
  std::thread issuing([&] { run(invoices.issue(id)); });
  EXPECT_TRUE(test::eventually([this] { return database.has_lock_waiter(); }));
  EXPECT_NO_THROW(use(500s));
  holding.commit();
  issuing.join();
  EXPECT_EQ(rows("SELECT state FROM invoice"), std::vector<std::string>{"issued"});
}

TEST_F(InvoiceTest, ABookingUnderWayIsWaitedFor) {
  use(1000s);
  pqxx::connection other(database.url());
  pqxx::work booking(other);
  forget_prepared();
  lock_rating(booking);
  const auto drawn = booking.exec1("SELECT nextval('usage_sequence')")[0].as<int64_t>();
  std::atomic<bool> booked = false;
  std::thread waiting([&] {
    EXPECT_GE(run(booking_watermark(*database)), drawn);
    EXPECT_TRUE(booked);
  });
  for (int i = 0; i < 20; ++i) EXPECT_NO_THROW(use(1s));  // neither held off nor waited for
  booked = true;
  booking.commit();
  waiting.join();
}

TEST_F(InvoiceTest, RefusesToIssueWhatHasNotEnded) {
  const Invoice open_ended = draft("2026-10-01T00:00:00Z", "2099-01-01T00:00:00Z");
  EXPECT_THROW(run(invoices.issue(open_ended.id)), Error);
  EXPECT_THROW(run(invoices.get(InvoiceId::make())), Error);
}

TEST_F(InvoiceTest, AMonthIsTheTenantsOwn) {
  const auto [from, to] = *month_from("2026-10");
  const auto of = [&](const char* zone) {
    return run(invoices.draft({.tenant = tenant, .from = from, .to = to, .timezone = zone}));
  };
  const Invoice berlin = of("Europe/Berlin");  // its clocks went back in between
  EXPECT_EQ(berlin.from, at("2026-09-30T22:00:00Z"));
  EXPECT_EQ(berlin.to, at("2026-10-31T23:00:00Z"));
  EXPECT_EQ(of("Asia/Kathmandu").from, at("2026-09-30T18:15:00Z"));
  EXPECT_THROW(of("Mars/Olympus"), Error);
}

TEST_F(InvoiceTest, SetsCreditsOffAndBalancesTheLedgerToTheInvoice) {
  run(budgets.add_credits(tenant, {dec("5"), "USD"}, "trial"));
  use(86'400s);
  const Invoice issued = run(invoices.issue(draft().id));
  EXPECT_EQ(issued.credits_applied, dec("5"));
  EXPECT_EQ(balance(credits_of(tenant)), dec("0"));
  EXPECT_EQ(-balance(receivable_of(tenant)), issued.total - dec("5"));
  ask_the_oracle();
}

TEST_F(InvoiceTest, CreditsThatComeLaterPayTheOldestInvoiceFirst) {
  use(20'000s);
  const Invoice first = run(invoices.issue(draft().id));
  clock.set("2026-11-05T00:00:00Z");
  use(20'000s);
  const Invoice second =
      run(invoices.issue(draft("2026-11-01T00:00:00Z", "2026-11-10T00:00:00Z").id));
  const auto due = [&](const Invoice& invoice) {
    return to_json(run(invoices.get(invoice.id)))["due"].get<std::string>();
  };
  EXPECT_EQ(second.total, dec("4.95"));
  const auto give = [&](const char* amount) {
    return run(budgets.add_credits(tenant, {dec(amount), "USD"}, "later")).amount;
  };
  EXPECT_EQ(give("5"), dec("0"));
  EXPECT_EQ(due(first), "0.00");
  EXPECT_EQ(due(second), "4.90");
  EXPECT_EQ(-balance(receivable_of(tenant)), dec("4.90"));
  EXPECT_EQ(run(budgets.add_credits(tenant, {dec("9"), "EUR"}, "other")).amount, dec("9"));
  EXPECT_EQ(give("5"), dec("0.10")) << "what is left";
  EXPECT_EQ(balance(credits_of(tenant)), dec("0.10"));
  EXPECT_EQ(balance(receivable_of(tenant)), dec("0"));
  EXPECT_EQ(run(invoices.list(tenant, std::nullopt, 10))[1].credits_applied, second.total);
  for (const std::string change :
       {"UPDATE invoice_payment SET amount = 1", "DELETE FROM invoice_payment"})
    EXPECT_THROW(run(database->run([&](pqxx::work& tx) { tx.exec(change); })), Error) << change;
  ask_the_oracle();
}

TEST_F(InvoiceTest, ParallelCreditsEachSayWhatIsLeftAfterThem) {
  std::vector<std::string> left(8);
  std::vector<std::thread> givers;
  for (std::string& mine : left)
    givers.emplace_back([&] {
      mine = run(budgets.add_credits(tenant, {dec("1"), "USD"}, "one")).amount.to_string();
    });
  for (auto& giver : givers) giver.join();
  std::sort(left.begin(), left.end());
  EXPECT_EQ(left, (std::vector<std::string>{"1", "2", "3", "4", "5", "6", "7", "8"}));
}

TEST_F(InvoiceTest, IssuedRowsCannotBeChanged) {
  use(1000s);
  const Invoice issued = run(invoices.issue(draft().id));
  for (const std::string change :
       {"UPDATE invoice SET total = 0", "DELETE FROM invoice", "UPDATE invoice_line SET amount = 0",
        "DELETE FROM invoice_line", "TRUNCATE invoice_line",
        "INSERT INTO invoice_line SELECT invoice, 99, adjusts, meter, deployment, profile, "
        "quantity,"
        " unit_price, amount_exact, amount FROM invoice_line LIMIT 1"})
    EXPECT_THROW(run(database->run([&](pqxx::work& tx) { tx.exec(change); })), Error) << change;
}

TEST_F(InvoiceTest, TransfersBalanceAndAreNeverChanged) {
  use(1000s);
  const auto refused = [&](const std::string& sql) {
    EXPECT_THROW(run(database->run([&](pqxx::work& tx) { tx.exec(sql); })), Error) << sql;
  };
  refused("UPDATE ledger_entry SET debit = debit + 1 WHERE debit > 0");
  refused("DELETE FROM ledger_transfer");
  refused("TRUNCATE ledger_entry");
  refused("INSERT INTO ledger_transfer (currency, reason) VALUES ('USD', 'without entries')");
  refused("INSERT INTO ledger_entry SELECT max(id), 3, 'cost', 1, 0 FROM ledger_transfer");
  LedgerTransfer lopsided = make_transfer({dec("3"), "USD"}, "test", tenant, "a", "b");
  lopsided.entries[1].credit = dec("2");
  EXPECT_THROW(run(database->run([&](pqxx::work& tx) { return post(tx, lopsided); })), Error);

  const auto id = run(database->run([&](pqxx::work& tx) {
    return post(tx, make_transfer({dec("3"), "USD"}, "test", tenant, "a", "b"));
  }));
  const auto undo = [&] {
    run(database->run([&](pqxx::work& tx) {
      tx.exec_params(
          "INSERT INTO ledger_transfer (currency, reason, tenant, reverses)"
          " SELECT currency, 'reversal', tenant, id FROM ledger_transfer WHERE id = $1",
          id);
      tx.exec_params(
          "INSERT INTO ledger_entry (transfer, position, account, debit, credit)"
          " SELECT t.id, e.position, e.account, e.credit, e.debit"
          " FROM ledger_transfer t JOIN ledger_entry e ON e.transfer = t.reverses"
          " WHERE t.reverses = $1",
          id);
    }));
  };
  undo();
  EXPECT_EQ(balance("b"), dec("0"));
  EXPECT_THROW(undo(), Error);  // only once
}

TEST_F(InvoiceTest, AnotherRoleMayNotTouchTheFacts) {
  use(1000s);
  run(database->run([&](pqxx::work& tx) {
    tx.exec("DO $$ BEGIN CREATE ROLE visitor; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
    tx.exec("GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO visitor");
  }));
  for (const std::string table : {"usage_event", "ledger_entry", "price_entry"})
    for (const std::string& change : {"DELETE FROM " + table, "TRUNCATE " + table,
                                      "ALTER TABLE " + table + " DISABLE TRIGGER ALL"})
      EXPECT_THROW(run(database->run([&](pqxx::work& tx) {
                     tx.exec("SET LOCAL ROLE visitor");
                     tx.exec(change);
                   })),
                   Error)
          << change;
}

TEST_F(InvoiceTest, ReconciliationShowsTheDrift) {
  use(1000s);  // 1500 vCPU seconds, 0.15
  const auto report = vendor_report_from(parse_json(
      R"({"deployment":"acme-1","period":"2026-10","lines":[
          {"meter":"vcpu_second","quantity":"1600","amount":"0.16"},
          {"sandbox":"sbforeign","meter":"memory_gib_second","quantity":"10","amount":"1"}]})"));
  const Json answer = run(reconcile(*database, report));
  ASSERT_EQ(answer["items"].size(), 3u);
  const auto& cpu = answer["items"][0];
  EXPECT_EQ(cpu["meter"], "vcpu_second");
  EXPECT_EQ(cpu["sandbox"], nullptr);
  EXPECT_EQ(cpu["ours"], "0.15");
  EXPECT_EQ(cpu["difference"], "0.01");
  EXPECT_EQ(cpu["quantity"]["difference"], "100");
  EXPECT_EQ(answer["currency"], "USD");
  EXPECT_FALSE(answer.contains("other_currencies"));
}

TEST_F(InvoiceTest, AVendorsBillMayRepeatEveryDigitOfOurs) {
  use(std::chrono::seconds(1));
  const std::string ours =
      rows("SELECT cost * 1.000000000000000000001 FROM usage_event WHERE cost > 0")[0];
  EXPECT_GT(ours.size(), 22u);
  const auto bill = [](const std::string& amount) {
    return vendor_report_from(parse_json(R"({"deployment":"acme-1","period":"2026-10","lines":[
      {"meter":"vcpu_second","quantity":"1","amount":")" +
                                         amount + "\"}]}"));
  };
  EXPECT_EQ(bill(ours).lines[0].amount, dec(ours));
  EXPECT_EQ(bill("-" + ours).lines[0].amount, -dec(ours));
  EXPECT_THROW(bill("0." + std::string(101, '1')), Error);
}

TEST_F(InvoiceTest, TheOracleAgreesOnRandomHistories) {
  std::mt19937_64 random(11);
  const TenantId first = tenant, second = TenantId::make();
  run(budgets.put(budget_from(
      parse_json(R"({"amount":"100000","currency":"USD","window":"total"})"), first, "all")));
  insert_version("list", "2026-10-20T07:07:07Z",
                 R"({"kind":"cost","currency":"USD","effective_from":"2026-10-20T07:07:07Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.000217","minimum":"61",
                "rounding":"7","included":"3"},
               {"provider":"*","meter":"disk_gib_second","unit_price":"0.0000001"}]})");
  insert_version("vip", "2026-10-01T00:00:00Z",
                 R"({"kind":"charge","tenant":")" + second.value +
                     R"(","currency":"EUR","effective_from":"2026-10-01T00:00:00Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.00031"}]})");
  for (int i = 0; i < 40; ++i) {
    tenant = random() % 2 ? first : second;
    clock.set("2026-10-18T00:00:00Z");
    clock.advance(std::chrono::microseconds(random() % 500'000'000'000));
    const auto id = open({.milli_vcpu = static_cast<int64_t>(250 * (1 + random() % 8)),
                          .memory_mib = static_cast<int64_t>(random() % 4096),
                          .disk_gib = static_cast<int64_t>(random() % 5)});
    for (int part = 0; part < 3; ++part) {
      clock.advance(std::chrono::microseconds(random() % 2'000'000'000));
      run(meter.flush(*database, 0s));
    }
    close(id);
  }
  tenant = first;
  run(invoices.issue(draft().id));
  clock.set("2026-10-30T00:00:00Z");
  use(777s);
  run(invoices.issue(draft("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z").id));
  ask_the_oracle();
}

}  // namespace
}  // namespace sandgate
