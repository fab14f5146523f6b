#include "billing/prices/price_preview.hpp"

#include <gtest/gtest.h>

#include "tests/billing/billing_fixture.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::at;
using test::run;

class PricePreviewTest : public test::BillingFixture {
 protected:
  Json preview(const std::string& book, const std::string& json) {
    PricePreview wanted{price_version_from(parse_json(json), book), at("2026-11-20T00:00:00Z"),
                        at("2026-11-21T00:00:00Z")};
    return run(preview_prices(*database, wanted));
  }
};

TEST_F(PricePreviewTest, TellsWhatAnotherPriceWouldHaveMade) {
  publish("list", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.001"}]})");
  const auto id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  clock.advance(1000s);
  close(id);
  const std::string dearer = R"({"kind":"cost","currency":"USD",
    "effective_from":"2027-01-01T00:00:00Z","entries":[{"provider":"acme","meter":"vcpu_second",
    "unit_price":"0.002","rounding":"600"}]})";
  const Json answer = preview("list", dearer);
  EXPECT_EQ(answer["total"][0]["booked"]["cost"], "1");
  // Rounded up once per sandbox, although the time is several intervals.
  EXPECT_EQ(answer["total"][0]["preview"]["cost"], "2.4");
  EXPECT_EQ(answer["total"][0]["difference"]["charge"], "1.4");
  EXPECT_EQ(rows("SELECT count(*) FROM price_version"), std::vector<std::string>{"1"});
  const Json markup = preview("resale", R"({"kind":"charge","currency":"USD",
    "effective_from":"2027-01-01T00:00:00Z","markup_percent":"25"})");
  EXPECT_EQ(markup["total"][0]["difference"]["cost"], "0");
  EXPECT_EQ(markup["total"][0]["difference"]["charge"], "0.25");
}

TEST_F(PricePreviewTest, TheSamePricesMakeNoDifference) {
  const std::string list =
      R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.000017"},
    {"provider":"*","meter":"memory_gib_second","unit_price":"0.0000031","minimum":"3"}]})";
  publish("list", list);
  for (int i = 0; i < 5; ++i) {
    const auto id = open({.milli_vcpu = 250 * (i + 1), .memory_mib = 333, .disk_gib = 1});
    clock.advance(std::chrono::seconds(777 * i + 1));
    close(id);
  }
  const Json same = preview("list", list);
  ASSERT_GT(same["items"].size(), 0u);
  for (const Json& item : same["items"]) {
    EXPECT_EQ(item["difference"]["cost"], "0") << item;
    EXPECT_EQ(item["difference"]["charge"], "0") << item;
  }
}

}  // namespace
}  // namespace sandgate
