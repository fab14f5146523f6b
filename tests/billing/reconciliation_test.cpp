#include "billing/ledger/reconciliation.hpp"

#include "tests/billing/billing_fixture.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::run;

using ReconciliationTest = test::BillingFixture;

// In whatever order the database groups them.
TEST_F(ReconciliationTest, OfAMeterThatTheVendorDoesNotReportWhatCostNothingIsLeftOut) {
  insert_version("list", "2026-11-20T13:00:00Z",
                 R"({"kind":"cost","currency":"USD","effective_from":"2026-11-20T13:00:00Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.01"}]})");
  const auto run_ten = [this] {
    for (int i = 0; i < 10; ++i) {
      const auto id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
      clock.advance(10s);
      close(id);
    }
  };
  run_ten();
  clock.set("2026-11-20T14:00:00Z");
  run_ten();
  const auto report = vendor_report_from(parse_json(
      R"({"deployment":"acme-1","period":"2026-11","lines":[
          {"meter":"egress_gib","quantity":"1","amount":"1"}]})"));
  const Json answer = run(reconcile(*database, report));
  ASSERT_EQ(answer["items"].size(), 2u) << answer;
  EXPECT_EQ(answer["items"][1]["meter"], "vcpu_second");
  EXPECT_EQ(answer["items"][1]["ours"], "1");
  EXPECT_EQ(answer["items"][1]["quantity"]["ours"], "100");
}

}  // namespace
}  // namespace sandgate
