#include <fstream>
#include <sstream>

#include "billing/invoices/invoices.hpp"
#include "tests/billing/billing_fixture.hpp"

namespace sandgate {
namespace {

using test::at;
using test::run;

// docs/billing.md does what it says.
class WorkedExample : public test::BillingFixture {
 protected:
  // The text of the page's block that begins with ```<label>.
  static std::string block(const std::string& label) {
    std::ifstream file(SANDGATE_BILLING_PAGE);
    std::string line, text;
    while (std::getline(file, line) && line != "```" + label) {
    }
    while (std::getline(file, line) && line != "```") text += line + "\n";
    EXPECT_FALSE(text.empty()) << label;
    return text;
  }

  void live() {
    std::istringstream steps(block("life"));
    std::string when, what;
    SandboxId id;
    const Resources size{.milli_vcpu = 1000, .memory_mib = 512, .disk_gib = 2};
    while (steps >> when >> what) {
      clock.set(when);
      if (what == "create") id = open(size);
      if (what == "pause") change(id, MeterState::paused_disk, size);
      if (what == "resume") change(id, MeterState::running, size);
      if (what == "end") close(id);
    }
  }
};

TEST_F(WorkedExample, IsTrue) {
  insert_version("list", "2026-10-01T00:00:00Z", block("json prices"));
  insert_version("resale", "2026-10-01T00:00:00Z", block("json markup"));
  live();
  Invoices invoices(*database);
  const Invoices::Order october{tenant, at("2026-10-01T00:00:00Z"), at("2026-11-01T00:00:00Z"), {}};
  const Invoice invoice = run(invoices.issue(run(invoices.draft(october)).id));
  std::string lines;
  for (const InvoiceLine& line : invoice.lines)
    lines += line.meter + " " + line.quantity.to_string() + " " + line.amount_exact.to_string() +
             " " + line.amount.to_fixed(2) + "\n";
  lines += "total " + invoice.total.to_fixed(2) + "\n";
  EXPECT_EQ(lines, block("invoice"));
  EXPECT_EQ(rows("SELECT trim_scale(sum(cost)), trim_scale(sum(charge)) FROM usage_event"),
            std::vector<std::string>{"0.034542|0.0431775"});
  EXPECT_EQ(rows("SELECT trim_scale(sum(credit - debit)) FROM ledger_entry"
                 " WHERE account = 'rounding'"),
            std::vector<std::string>{"0.0068225"});
}

}  // namespace
}  // namespace sandgate
