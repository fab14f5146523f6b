#include "gateway/core/decimal.hpp"

#include <gtest/gtest.h>

#include "billing/usage/meter_kind.hpp"
#include "gateway/core/error.hpp"
#include "tests/billing/billing_fixture.hpp"

namespace sandgate {
namespace {

using test::dec;

TEST(Decimal, ReadsPlainDecimalsOnly) {
  for (const auto& [text, canonical] : std::vector<std::pair<std::string, std::string>>{
           {"0", "0"},
           {"0.0504", "0.0504"},
           {"010.50", "10.5"},
           {"7", "7"},
           {"0.000", "0"},
           {"999999999999999999.999999999999999999", "999999999999999999.999999999999999999"}})
    EXPECT_EQ(Decimal::parse(text).value().to_string(), canonical) << text;
  for (const std::string text :
       {"", ".", "1.", ".5", "-1", "+1", "1e3", "0x1", " 1", "1 ", "1,5", "1.2.3", "NaN", "inf",
        "1234567890123456789", "0.1234567890123456789", "--1", "1_000", "٣"})
    EXPECT_FALSE(Decimal::parse(text)) << text;
  EXPECT_EQ(dec("-1.50").to_string(), "-1.5");
  EXPECT_FALSE(Decimal::parse_printed("-0"));
  EXPECT_FALSE(Decimal::parse_printed("- 1"));
}

TEST(Decimal, ReadsAllThatItPrints) {
  const Decimal price = Decimal::parse("0.000016800000000001").value();
  const Decimal markup = Decimal::parse("1.330000000000000001").value();
  const Decimal charge = price * markup * gib(1);
  EXPECT_EQ(charge.to_string().size(), 2u + 18 + 18 + 30);
  EXPECT_EQ(Decimal::parse_printed(charge.to_string()), charge);
  EXPECT_EQ(Decimal::parse_printed((-charge).to_string()), -charge);
  EXPECT_FALSE(Decimal::parse_printed("0." + std::string(101, '1')));
}

TEST(Decimal, ReadsWhatPostgresPrints) {
  EXPECT_EQ(Decimal::from_sql("0.00000000000000000000000001350").to_string(),
            "0.0000000000000000000000000135");
  EXPECT_EQ(Decimal::from_sql("-12345678901234567890123456789.5").to_string(),
            "-12345678901234567890123456789.5");
  EXPECT_THROW(Decimal::from_sql("NaN"), Error);
}

TEST(Decimal, AddsSubtractsMultipliesAndComparesExactly) {
  EXPECT_EQ((dec("0.1") + dec("0.2")).to_string(), "0.3");
  EXPECT_EQ((dec("1") - dec("0.000000000000000001")).to_string(), "0.999999999999999999");
  EXPECT_EQ((dec("0.0000112") * dec("59.999999")).to_string(), "0.0006719999888");
  EXPECT_EQ((dec("-2") * dec("0.5")).to_string(), "-1");
  EXPECT_LT(dec("0.09"), dec("0.1"));
  EXPECT_EQ(dec("1.0"), dec("1"));
  EXPECT_GT(dec("-1"), dec("-1.01"));
}

TEST(Decimal, RoundsHalfToEven) {
  for (const auto& [value, rounded] :
       std::vector<std::pair<std::string, std::string>>{{"0.125", "0.12"},
                                                        {"0.135", "0.14"},
                                                        {"0.1250001", "0.13"},
                                                        {"-0.125", "-0.12"},
                                                        {"-0.135", "-0.14"},
                                                        {"2.5", "2.5"},
                                                        {"0.005", "0"},
                                                        {"0.015", "0.02"},
                                                        {"9.999", "10"}})
    EXPECT_EQ(dec(value).rounded(2).to_string(), rounded) << value;
  EXPECT_EQ(dec("2.5").rounded(0).to_string(), "2");
  EXPECT_EQ(dec("3.5").rounded(0).to_string(), "4");
}

TEST(Decimal, RoundsUpToSteps) {
  EXPECT_EQ(dec("61").rounded_up_to(dec("60")).to_string(), "120");
  EXPECT_EQ(dec("60").rounded_up_to(dec("60")).to_string(), "60");
  EXPECT_EQ(dec("0.0000001").rounded_up_to(dec("0.01")).to_string(), "0.01");
  EXPECT_EQ(dec("7.3").rounded_up_to(dec("2.5")).to_string(), "7.5");
}

TEST(Decimal, PrintsAFixedNumberOfDigits) {
  EXPECT_EQ(dec("1.5").to_fixed(2), "1.50");
  EXPECT_EQ(dec("3").to_fixed(2), "3.00");
  EXPECT_EQ(dec("0").to_fixed(2), "0.00");
  EXPECT_EQ(dec("12").to_fixed(0), "12");
  EXPECT_THROW(dec("0.001").to_fixed(2), Error);
}

TEST(MeterKind, QuantitiesAreExact) {
  EXPECT_EQ(vcpu_seconds(250, 1).to_string(), "0.00000025");
  EXPECT_EQ(vcpu_seconds(1500, 2'000'000).to_string(), "3");
  EXPECT_EQ(memory_gib_seconds(512, 1'000'000).to_string(), "0.5");
  EXPECT_EQ(memory_gib_seconds(1, 1).to_string(), "0.0000000009765625");
  EXPECT_EQ(disk_gib_seconds(2, 500'000).to_string(), "1");
  EXPECT_EQ(gib(1LL << 30).to_string(), "1");
  EXPECT_EQ(gib(1).to_string(), "0.000000000931322574615478515625");
  for (const MeterKind kind : kMeterKinds) EXPECT_EQ(meter_kind_from(to_string(kind)), kind);
  EXPECT_FALSE(meter_kind_from("vcpu"));
}

}  // namespace
}  // namespace sandgate
