#include "billing/prices/rating.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/billing/billing_fixture.hpp"

namespace sandgate {
namespace {

using test::at;
using test::dec;

const Time kNow = at("2026-11-20T12:00:00Z");

PriceVersion book(int64_t id, const std::string& name, int version, const std::string& json) {
  PriceVersion read = price_version_from(parse_json(json), name);
  read.id = id;
  read.version = version;
  for (PriceEntry& entry : read.entries) entry.id = id * 100 + (&entry - read.entries.data());
  return read;
}

const std::string kCost =
    R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z","entries":[
        {"provider":"acme","meter":"vcpu_second","unit_price":"0.00001"},
        {"provider":"acme","region":"eu","meter":"vcpu_second","unit_price":"0.00002"},
        {"provider":"acme","deployment":"acme-1","meter":"vcpu_second","unit_price":"0.00003"},
        {"provider":"*","meter":"disk_gib_second","unit_price":"0.5"}]})";

TEST(Rating, TakesTheMostSpecificCost) {
  const PriceSnapshot prices({book(1, "list", 1, kCost)});
  const auto unit = [&](std::string_view provider, std::string_view deployment,
                        std::string_view region, MeterKind meter) {
    const auto price = prices.cost({"", provider, deployment, region}, meter, kNow);
    return price ? price->entry->terms.unit_price.to_string() : "none";
  };
  EXPECT_EQ(unit("acme", "x", "us", MeterKind::vcpu_second), "0.00001");
  EXPECT_EQ(unit("acme", "x", "eu", MeterKind::vcpu_second), "0.00002");
  EXPECT_EQ(unit("acme", "acme-1", "eu", MeterKind::vcpu_second), "0.00003");
  EXPECT_EQ(unit("other", "x", "eu", MeterKind::vcpu_second), "none");
  EXPECT_EQ(unit("other", "x", "eu", MeterKind::disk_gib_second), "0.5");
}

TEST(Rating, FollowsEffectiveDates) {
  const std::string later =
      R"({"kind":"cost","currency":"USD","effective_from":"2026-06-01T00:00:00Z","entries":[
          {"provider":"acme","meter":"vcpu_second","unit_price":"0.5"}]})";
  const PriceSnapshot prices({book(1, "list", 1, kCost), book(2, "list", 2, later)});
  const PriceScope scope{"", "acme", "x", "us"};
  const auto unit = [&](std::string_view when) {
    const auto price = prices.cost(scope, MeterKind::vcpu_second, at(when));
    return price ? price->entry->terms.unit_price.to_string() : "none";
  };
  EXPECT_EQ(unit("2025-12-31T23:59:59.999999Z"), "none");
  EXPECT_EQ(unit("2026-05-31T23:59:59.999999Z"), "0.00001");
  EXPECT_EQ(unit("2026-06-01T00:00:00Z"), "0.5");
  EXPECT_FALSE(prices.cost({"", "acme", "acme-1", "us"}, MeterKind::disk_gib_second, kNow));
  EXPECT_EQ(prices.changes(at("2026-01-01T00:00:00Z"), at("2026-07-01T00:00:00Z")),
            std::vector<Time>{at("2026-06-01T00:00:00Z")});
}

// A release that brings other prices publishes them from its start on.
TEST(Rating, TheShippedBookNeverReplacesThePricesOfTheOperator) {
  const std::string list =
      R"({"kind":"cost","currency":"USD","effective_from":"2026-06-01T00:00:00Z","entries":[
          {"provider":"acme","meter":"vcpu_second","unit_price":"0.5"},
          {"provider":"acme","region":"eu","meter":"vcpu_second","unit_price":"0.6"}]})";
  const PriceSnapshot prices({book(1, "ours", 1, kCost), book(2, "shipped", 2, list)});
  const auto unit = [&](std::string_view region) {
    return prices.cost({"", "acme", "x", region}, MeterKind::vcpu_second, kNow)
        ->entry->terms.unit_price.to_string();
  };
  EXPECT_EQ(unit("us"), "0.00001");
  EXPECT_EQ(unit("eu"), "0.00002");
}

// As docs/billing.md promises.
TEST(Rating, OfTwoBooksForAllTheOneThatBeganLaterCountsThenTheFirstByName) {
  const auto charging = [](int64_t id, const std::string& name, const std::string& since,
                           const std::string& unit_price) {
    return book(id, name, 1,
                R"({"kind":"charge","currency":"USD","effective_from":")" + since +
                    R"(","entries":[{"provider":"acme","meter":"vcpu_second","unit_price":")" +
                    unit_price + R"("}]})");
  };
  const auto unit = [](std::vector<PriceVersion> versions) {
    const PriceSnapshot prices(std::move(versions));
    const auto charge =
        prices.charge({"tn", "acme", "x", "us"}, MeterKind::vcpu_second, "USD", kNow);
    return charge.price->entry->terms.unit_price.to_string();
  };
  const auto ours = charging(1, "a", "2026-01-01T00:00:00Z", "0.1");
  const auto later = charging(2, "b", "2026-02-01T00:00:00Z", "0.2");
  const auto same = charging(3, "c", "2026-02-01T00:00:00Z", "0.3");
  EXPECT_EQ(unit({ours, later}), "0.2");
  EXPECT_EQ(unit({later, same}), "0.2");
  EXPECT_EQ(unit({same, later}), "0.2") << "in whatever order they are read";
}

TEST(Rating, ATenantsOwnDeploymentCostsNothingAndIsChargedByItsNameAlone) {
  const std::string fees =
      R"({"kind":"charge","currency":"EUR","effective_from":"2026-01-01T00:00:00Z",
          "markup_percent":"20","entries":[
          {"provider":"acme","meter":"vcpu_second","unit_price":"0.7"},
          {"provider":"*","deployment":"fee","meter":"vcpu_second","unit_price":"0.1"}]})";
  const PriceSnapshot prices({book(1, "list", 1, kCost), book(2, "sell", 1, fees)});
  const auto rated = [&](std::string_view deployment) {
    return rate(prices, {"tn", "acme", deployment, "eu", true}, MeterKind::vcpu_second, kNow, 0, 1);
  };
  EXPECT_TRUE(rated("acme-1").cost.amount.is_zero());
  EXPECT_FALSE(rated("acme-1").cost_entry);
  EXPECT_TRUE(rated("acme-1").charge.amount.is_zero());
  EXPECT_EQ(rated("fee").charge.amount.to_string(), "0.1");
  EXPECT_TRUE(rated("fee").cost.amount.is_zero());
  const Resources size{.milli_vcpu = 1000};
  EXPECT_TRUE(
      charge_per_hour(prices, {"tn", "acme", "x", "eu", true}, size, kNow)->amount.is_zero());
  EXPECT_FALSE(prices.cost_per_hour({"tn", "acme", "x", "eu", true}, size, kNow));
}

TEST(Rating, APriceOfAnyMeterIsAKnownPrice) {
  const Resources size{.milli_vcpu = 1000};
  const PriceScope scope{"tn", "acme", "acme-1", "eu"};
  EXPECT_FALSE(charge_per_hour(PriceSnapshot(), scope, size, kNow));
  for (const std::string meter : {"sandbox_created", "egress_gib"}) {
    const std::string json =
        R"({"currency":"EUR","effective_from":"2026-01-01T00:00:00Z","entries":[
            {"provider":"acme","meter":")" +
        meter + R"(","unit_price":"1"}],"kind":)";
    const PriceSnapshot charges({book(1, "sell", 1, json + "\"charge\"}")});
    EXPECT_EQ(charge_per_hour(charges, scope, size, kNow), (Money{Decimal(), "EUR"})) << meter;
    EXPECT_FALSE(charges.cost_per_hour(scope, size, kNow)) << meter;
    const PriceSnapshot costs({book(1, "list", 1, json + "\"cost\"}")});
    EXPECT_EQ(charge_per_hour(costs, scope, size, kNow), (Money{Decimal(), "EUR"})) << meter;
    EXPECT_EQ(costs.cost_per_hour(scope, size, kNow), (Money{Decimal(), "EUR"})) << meter;
    EXPECT_FALSE(charge_per_hour(costs, {"tn", "other", "x", "eu"}, size, kNow)) << meter;
  }
}

TEST(Rating, ChargesByEntryThenMarkupThenCost) {
  const std::string everybody =
      R"({"kind":"charge","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
          "markup_percent":"20","entries":[
          {"provider":"acme","region":"eu","meter":"vcpu_second","unit_price":"0.7"}]})";
  const std::string own =
      R"({"kind":"charge","tenant":"tnaaaaaaaaaaaaaaaaaaaaaaaa","currency":"USD",
          "effective_from":"2026-01-01T00:00:00Z","markup_percent":"0.5","entries":[]})";
  const PriceSnapshot bare({book(1, "list", 1, kCost)});
  const PriceSnapshot prices(
      {book(1, "list", 1, kCost), book(2, "sell", 1, everybody), book(3, "own", 1, own)});
  const auto charge = [&](const PriceSnapshot& from, std::string_view tenant,
                          std::string_view region) {
    return rate(from, {tenant, "acme", "x", region}, MeterKind::vcpu_second, kNow, Decimal(),
                Decimal(100));
  };
  EXPECT_EQ(charge(bare, "", "us").charge, (Money{dec("0.001"), "USD"}));
  EXPECT_EQ(charge(prices, "", "us").charge, (Money{dec("0.0012"), "USD"}));
  EXPECT_EQ(charge(prices, "", "us").markup_version, 2);
  EXPECT_EQ(charge(prices, "", "eu").charge, (Money{dec("70"), "USD"}));
  EXPECT_EQ(charge(prices, "", "eu").charge_entry, 200);
  const auto special = charge(prices, "tnaaaaaaaaaaaaaaaaaaaaaaaa", "eu");
  EXPECT_EQ(special.charge, (Money{dec("0.00201"), "USD"}));
  EXPECT_EQ(special.cost, (Money{dec("0.002"), "USD"}));
}

TEST(Rating, CountsMinimumRoundingAndIncludedPerSandbox) {
  const PriceTerms terms{dec("2"), dec("60"), dec("10"), dec("5")};
  EXPECT_EQ(billed_quantity(terms, dec("0")), dec("0"));
  EXPECT_EQ(billed_quantity(terms, dec("0.1")), dec("55"));
  EXPECT_EQ(billed_quantity(terms, dec("60")), dec("55"));
  EXPECT_EQ(billed_quantity(terms, dec("60.1")), dec("65"));
  EXPECT_EQ(price_of(terms, dec("0"), dec("61")), dec("130"));
  EXPECT_EQ(price_of(terms, dec("61"), dec("9")), dec("0"));
}

TEST(Rating, SplittingNeverChangesTheSum) {
  std::mt19937_64 random(7);
  const auto decimal = [&](uint64_t below, int scale) {
    return Decimal(Decimal::Integer(random() % below), scale);
  };
  for (int round = 0; round < 2000; ++round) {
    PriceTerms terms{decimal(1'000'000, 9)};
    if (random() % 2) terms.minimum = decimal(100'000, 3);
    if (random() % 2) terms.rounding = decimal(10'000, 3) + dec("0.001");
    if (random() % 2) terms.included = decimal(100'000, 3);
    const Decimal whole = decimal(1'000'000'000, 6);
    Decimal before, sum;
    while (before < whole) {
      const Decimal piece = std::min(decimal(300'000'000, 6) + dec("0.000001"), whole - before);
      sum += price_of(terms, before, piece);
      before += piece;
    }
    ASSERT_EQ(sum, price_of(terms, Decimal(), whole));
  }
}

TEST(Rating, AnHourIsPricedInOneCurrency) {
  const PriceSnapshot prices({book(1, "dollars", 1, R"({"kind":"cost","currency":"USD",
      "effective_from":"2026-01-01T00:00:00Z",
      "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.001"}]})"),
                              book(2, "euros", 1, R"({"kind":"cost","currency":"EUR",
      "effective_from":"2026-01-01T00:00:00Z",
      "entries":[{"provider":"acme","meter":"disk_gib_second","unit_price":"1"}]})")});
  const Resources size{.milli_vcpu = 1000, .memory_mib = 1024, .disk_gib = 1};
  EXPECT_EQ(prices.cost_per_hour({"", "acme", "x", "us"}, size, kNow), (Money{dec("3.6"), "USD"}));
}

// A sum in the free meter's currency would leave out all that is charged, and set nothing aside.
TEST(Rating, AFreeMeterDoesNotDecideTheCurrencyOfAnHour) {
  const std::string free =
      R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z","entries":[
          {"provider":"acme","meter":"vcpu_second","unit_price":"0"},
          {"provider":"acme","meter":"disk_gib_second","unit_price":"0"}]})";
  const PriceScope scope{"tn", "acme", "acme-1", "eu"};
  const Resources size{.milli_vcpu = 1000, .memory_mib = 1024, .disk_gib = 1};
  const auto with = [&](const std::string& meter) {
    return PriceSnapshot({book(1, "free", 1, free), book(2, "euros", 1, R"({"kind":"cost",
        "currency":"EUR","effective_from":"2026-01-01T00:00:00Z","entries":[
        {"provider":"acme","unit_price":"0.001","meter":")" + meter + "\"}]}")});
  };
  for (const auto& [meter, per_hour] :
       {std::pair("memory_gib_second", "3.6"), std::pair("sandbox_created", "0"),
        std::pair("egress_gib", "0")}) {
    const PriceSnapshot prices = with(meter);
    const auto hourly = hourly_charge(prices, scope, size, kNow);
    EXPECT_EQ(hourly->charge, (Money{dec(per_hour), "EUR"})) << meter;
    EXPECT_FALSE(hourly->is_partial) << meter;
    EXPECT_EQ(prices.cost_per_hour(scope, size, kNow), hourly->charge) << meter;
  }
  const PriceSnapshot all_free({book(1, "free", 1, free)});
  EXPECT_EQ(charge_per_hour(all_free, scope, size, kNow), (Money{Decimal(), "USD"}));
}

TEST(Rating, KnowsThePriceOfAnHour) {
  const PriceSnapshot prices({book(1, "list", 1, kCost)});
  const Resources size{.milli_vcpu = 2000, .memory_mib = 1024, .disk_gib = 1};
  EXPECT_EQ(prices.cost_per_hour({"", "acme", "x", "us"}, size, kNow).value(),
            (Money{dec("1800.072"), "USD"}));
  EXPECT_EQ(charge_per_hour(prices, {"", "acme", "x", "us"}, size, kNow).value(),
            (Money{dec("1800.072"), "USD"}));
  EXPECT_FALSE(PriceSnapshot().cost_per_hour({"", "acme", "x", "us"}, size, kNow));
}

}  // namespace
}  // namespace sandgate
