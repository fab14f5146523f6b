// Usage that is booked when the invoice of its time is issued already.
#include <gtest/gtest.h>

#include "billing/invoices/invoices.hpp"
#include "tests/billing/billing_fixture.hpp"

namespace sandgate::test {
namespace {

class LateUsage : public BillingFixture {
 protected:
  void SetUp() override {
    publish("list", R"({"kind":"cost","currency":"EUR","effective_from":"2026-01-01T00:00:00Z",
      "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.01"}]})");
  }

  void use(std::string_view from, std::chrono::seconds time) {
    clock.set(from);
    const auto id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
    clock.advance(time);
    close(id);
  }

  Invoice draft(std::string_view from, std::string_view to) {
    return run(invoices.draft({.tenant = tenant, .from = at(from), .to = at(to)}));
  }

  Invoices invoices{*database};
};

TEST_F(LateUsage, DecidesTheCurrencyOfAnInvoiceWithNothingElse) {
  use("2026-10-10T12:00:00Z", std::chrono::seconds(1000));
  const Invoice issued =
      run(invoices.issue(draft("2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z").id));
  const auto next = [&] { return draft("2026-11-01T00:00:00Z", "2026-11-15T00:00:00Z"); };
  EXPECT_EQ(next().currency, "USD") << "nothing is charged at all";
  use("2026-10-20T12:00:00Z", std::chrono::seconds(50));
  const Invoice late = next();
  EXPECT_EQ(late.currency, "EUR");
  ASSERT_EQ(late.lines.size(), 1u);
  EXPECT_EQ(late.lines[0].adjusts, issued.id);
  EXPECT_EQ(late.total, dec("0.5"));
  run(invoices.issue(late.id));
  EXPECT_EQ(draft("2026-11-15T00:00:00Z", "2026-11-16T00:00:00Z").currency, "USD");
}

// Else the month after a change of prices would be left out for some late seconds in the old ones.
TEST_F(LateUsage, DoesNotDecideOverWhatTheTimeIsChargedIn) {
  insert_version("list", "2026-11-01T00:00:00Z", R"({"kind":"cost","currency":"USD",
    "effective_from":"2026-11-01T00:00:00Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.01"}]})");
  const std::pair<const char*, const char*> october{"2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z"},
      november{"2026-11-01T00:00:00Z", "2026-11-15T00:00:00Z"};
  use("2026-11-10T12:00:00Z", std::chrono::seconds(1000));
  run(invoices.issue(draft(november.first, november.second).id));
  use("2026-11-12T12:00:00Z", std::chrono::seconds(50));
  use("2026-10-10T12:00:00Z", std::chrono::seconds(300));
  const Invoice euros = draft(october.first, october.second);
  EXPECT_EQ(euros.currency, "EUR");
  EXPECT_EQ(euros.total, dec("3"));
  EXPECT_EQ(euros.other_currencies, std::vector<std::string>{"USD"});
}

TEST_F(LateUsage, IsNamedByAnInvoiceInAnotherCurrency) {
  use("2026-10-10T12:00:00Z", std::chrono::seconds(1000));
  run(invoices.issue(draft("2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z").id));
  use("2026-10-20T12:00:00Z", std::chrono::seconds(50));
  const Invoice dollars = run(invoices.draft({.tenant = tenant,
                                              .from = at("2026-11-01T00:00:00Z"),
                                              .to = at("2026-11-15T00:00:00Z"),
                                              .currency = "USD"}));
  EXPECT_TRUE(dollars.lines.empty());
  EXPECT_EQ(dollars.other_currencies, std::vector<std::string>{"EUR"});
}

TEST_F(LateUsage, AConflictNamesWhatMayBeInvoicedYet) {
  use("2026-10-10T12:00:00Z", std::chrono::seconds(1000));
  insert_version("list", "2026-10-15T00:00:00Z", R"({"kind":"cost","currency":"USD",
    "effective_from":"2026-10-15T00:00:00Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.01"}]})");
  use("2026-10-20T12:00:00Z", std::chrono::seconds(1000));
  const auto october = [&](std::optional<std::string> currency) {
    return run(invoices.draft({.tenant = tenant,
                               .from = at("2026-10-01T00:00:00Z"),
                               .to = at("2026-11-01T00:00:00Z"),
                               .currency = std::move(currency)}));
  };
  const auto refusal = [&] {
    try {
      return october({}).currency;
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  const Invoice first = october({}), second = october("EUR");
  run(invoices.issue(first.id));
  EXPECT_EQ(refusal(),
            "part of that time is on an issued invoice in USD already;"
            " set 'currency' for what is charged in EUR");
  run(invoices.issue(second.id));
  EXPECT_EQ(refusal(), "part of that time is on an issued invoice in USD already");
}

}  // namespace
}  // namespace sandgate::test
