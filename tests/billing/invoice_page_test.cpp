#include "billing/invoices/invoice_page.hpp"

#include <atomic>
#include <thread>

#include "billing/invoices/invoices.hpp"
#include "tests/billing/billing_fixture.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::run;

class InvoicePageTest : public test::BillingFixture {
 protected:
  void SetUp() override {
    publish("list", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
      "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.0001"},
                 {"provider":"acme","meter":"disk_gib_second","unit_price":"0.001",
                  "minimum":"5000"}]})");
    run(database->run([&](pqxx::work& tx) {
      tx.exec_params("UPDATE tenant SET name = $2 WHERE id = $1", tenant.value, "=A & <B>");
    }));
  }
  // Of a sandbox that ran for 1000 seconds at ten o'clock.
  Invoice draft(const std::string& day, int64_t disk_gib = 0) {
    clock.set(day + "T10:00:00Z");
    const auto id = open({.milli_vcpu = 1500, .memory_mib = 0, .disk_gib = disk_gib});
    clock.advance(1000s);
    close(id);
    return run(invoices.draft(
        {.tenant = tenant, .from = at(day + "T00:00:00Z"), .to = at(day + "T23:00:00Z")}));
  }
  Invoice issue(const Invoice& drafted) { return run(invoices.issue(drafted.id)); }

  Invoices invoices{*database};
};

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

TEST_F(InvoicePageTest, NumbersFollowEachOtherWithoutGaps) {
  const Invoice first = draft("2026-10-10"), again = draft("2026-10-10");
  EXPECT_EQ(to_json(first)["number"], nullptr);
  EXPECT_EQ(to_json(issue(first))["number"], 1);
  EXPECT_EQ(to_json(issue(first))["number"], 1) << "issued once";
  EXPECT_EQ(test::code_of([&] { issue(again); }), ErrorCode::conflict);
  EXPECT_EQ(issue(draft("2026-10-11")).number, 2) << "the refused one drew none";
  EXPECT_EQ(run(invoices.list(tenant, std::nullopt, 10))[0].number, 1);
}

TEST_F(InvoicePageTest, ParallelIssuesHaveANumberEach) {
  std::vector<Invoice> drafts;
  for (const char* day : {"2026-10-10", "2026-10-11", "2026-10-12", "2026-10-13", "2026-10-14"})
    drafts.push_back(draft(day));
  std::vector<std::thread> issuing;
  for (const Invoice& one : drafts) issuing.emplace_back([&] { issue(one); });
  for (auto& one : issuing) one.join();
  EXPECT_EQ(rows("SELECT number FROM invoice ORDER BY number"),
            (std::vector<std::string>{"1", "2", "3", "4", "5"}));
}

TEST_F(InvoicePageTest, ANumberThatATransactionDrewInVainIsDrawnAgain) {
  const Invoice drafted = draft("2026-10-10");
  const auto fails = [](pqxx::work&, const Json&, const Json&) {
    throw Error(ErrorCode::unavailable, "the trail is full");
  };
  EXPECT_EQ(test::code_of([&] { run(invoices.issue(drafted.id, fails)); }), ErrorCode::unavailable);
  EXPECT_EQ(issue(drafted).number, 1);
}

TEST_F(InvoicePageTest, NamesTheTenantAsWhenItWasIssued) {
  const Invoice drafted = draft("2026-10-10");
  expect_in(to_html(drafted), "<h1>Draft of invoice " + drafted.id.value + "</h1>");
  const Invoice issued = issue(drafted);
  run(database->run([&](pqxx::work& tx) { tx.exec("UPDATE tenant SET name = 'renamed'"); }));
  const std::string page = to_html(run(invoices.get(issued.id)));
  expect_in(page, "<h1>Invoice 1</h1>\n<p>Id " + issued.id.value +
                      "<br>For =A &amp; &lt;B&gt; "
                      "(tenant " +
                      tenant.value + ")<br>From 2026-10-10T00:00:00Z to ");
  expect_in(page, "<td>0.15</td>");
  expect_in(to_html(draft("2026-10-11")), "For renamed (");
}

TEST_F(InvoicePageTest, TellsWhyALineIsNotQuantityTimesPrice) {
  const std::string why = "* Not quantity times unit price";
  EXPECT_EQ(to_html(draft("2026-10-10")).find(why), std::string::npos);
  const std::string page = to_html(draft("2026-10-11", 1));
  expect_in(page, "<td>1000</td><td>0.001</td><td>5 *</td><td>5.00</td>");
  expect_in(page, "<td>0.15</td><td>0.15</td>");
  expect_in(page, why);
}

TEST_F(InvoicePageTest, PrintsTheIssuerLineByLine) {
  const Invoice drafted = draft("2026-10-10");
  expect_in(to_html(drafted, "Us & Co\nStreet <1>\nDue in 14 days\n"),
            "<body><p>Us &amp; Co<br>Street &lt;1&gt;<br>Due in 14 days</p>\n<h1>");
  expect_in(to_html(drafted), "<body><h1>");
}

TEST_F(InvoicePageTest, TheTableHasItsNewColumnsAtTheEnd) {
  const Invoice drafted = draft("2026-10-10");
  expect_in(to_csv(drafted),
            "invoice,meter,deployment,profile,quantity,unit_price,amount_exact,amount,currency,"
            "adjusts,number,tenant,tenant_name,from,to,state,issued_at,total\r\n");
  const std::string line =
      drafted.id.value + ",vcpu_second,acme-1,python,1500,0.0001,0.15,0.15,USD,,";
  const std::string whose = tenant.value + ",'=A & <B>,2026-10-10T00:00:00Z,2026-10-10T23:00:00Z,";
  expect_in(to_csv(drafted), "\r\n" + line + "," + whose + "draft,,0.15\r\n");
  const Invoice issued = issue(drafted);
  expect_in(to_csv(issued),
            "\r\n" + line + "1," + whose + "issued," + to_rfc3339(*issued.issued_at) + ",0.15\r\n");
}

}  // namespace
}  // namespace sandgate
