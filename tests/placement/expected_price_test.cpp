#include <gtest/gtest.h>

#include "gateway/placement/decision.hpp"
#include "tests/support/fake_provider.hpp"

namespace sandgate {
namespace {

// "a" asks half as much as "b" an hour, but for 20 minutes at least and for each create.
PriceSnapshot prices() {
  PriceVersion book{.id = 1, .book = "list", .version = 1, .currency = "USD"};
  const auto add = [&](const char* provider, MeterKind meter, PriceTerms terms) {
    book.entries.push_back({.provider = provider, .meter = meter, .terms = std::move(terms)});
  };
  add("a", MeterKind::vcpu_second, {.unit_price = 1, .minimum = Decimal(1200)});
  add("a", MeterKind::sandbox_created, {.unit_price = 100});
  add("b", MeterKind::vcpu_second, {.unit_price = 2, .rounding = Decimal(60)});
  return PriceSnapshot({book});
}

TEST(ExpectedPrice, CountsMinimumsRoundingAndThePriceOfACreate) {
  const SystemClock clock;
  const HealthBoard board(clock);
  const PriceSnapshot known = prices();
  const TenantId tenant = TenantId::make();
  DeploymentSet set;
  for (const char* name : {"a", "b"}) {
    auto backend = std::make_shared<test::FakeProvider>(name);
    set.push_back(std::make_shared<const Deployment>(Deployment{
        .name = name, .provider = name, .backend = backend, .descriptor = backend->descriptor()}));
  }
  const auto costs = [&](int64_t ttl_seconds) {
    EffectiveRequest request;
    request.profile.ttl_seconds = ttl_seconds;
    std::vector<std::string> found;
    for (const Candidate& one :
         decide(request, tenant, "python@1", "x",
                candidates_of(set, board, known, tenant, request.profile, clock.now()))
             .candidates)
      found.push_back(one.deployment->name + " " + one.expected_price->amount.to_string());
    return found;
  };
  EXPECT_EQ(costs(610), (std::vector<std::string>{"a 1300", "b 1320"}));
  EXPECT_EQ(costs(599), (std::vector<std::string>{"b 1200", "a 1300"}));
  EXPECT_EQ(costs(86'400), (std::vector<std::string>{"a 3700", "b 7200"}));
}

// One backend in two regions, of which the second charges three times as much.
struct TwoRegions {
  TwoRegions() {
    PriceVersion book{.id = 1, .book = "list", .version = 1, .currency = "USD"};
    for (const auto& [region, price] : {std::pair("us", 1), std::pair("eu", 3)})
      book.entries.push_back({.provider = "wide",
                              .region = region,
                              .meter = MeterKind::vcpu_second,
                              .terms = {.unit_price = price}});
    books.push_back(book);
    auto backend = std::make_shared<test::FakeProvider>("wide");
    Deployment wide{.name = "wide", .provider = "wide", .backend = backend};
    wide.descriptor = backend->descriptor();
    wide.descriptor.regions = {"us", "eu"};
    set.push_back(std::make_shared<const Deployment>(std::move(wide)));
  }

  Candidate in(std::vector<std::string> regions) const {
    const SystemClock clock;
    const HealthBoard board(clock);
    const TenantId tenant = TenantId::make();
    const PriceSnapshot known(books);
    EffectiveRequest request;
    request.profile.placement.regions = std::move(regions);
    request.profile.placement.max_cost_per_hour = "5000";
    return decide(request, tenant, "python@1", "x",
                  candidates_of(set, board, known, tenant, request.profile, clock.now()))
        .candidates.at(0);
  }

  std::vector<PriceVersion> books;
  DeploymentSet set;
};

TEST(ExpectedPrice, IsThatOfTheRegionThatIsAskedFor) {
  const TwoRegions wide;
  EXPECT_EQ(wide.in({"us"}).price_per_hour->to_string(), "3600");
  EXPECT_TRUE(wide.in({"us"}).eligible());
  const Candidate europe = wide.in({"eu"});
  EXPECT_EQ(europe.price_per_hour->to_string(), "10800");
  EXPECT_EQ(europe.expected_price->amount.to_string(), "1800") << "of ten minutes";
  EXPECT_EQ(europe.rejected_because, std::vector<std::string>{"price_above_limit"});
  EXPECT_TRUE(wide.in({"elsewhere", "us", "eu"}).eligible()) << "the first that it offers";
}

TEST(ExpectedPrice, IsTheHighestWhereTheBackendChoosesTheRegion) {
  TwoRegions wide;
  EXPECT_EQ(wide.in({}).price_per_hour->to_string(), "10800");
  EXPECT_EQ(wide.in({}).rejected_because, std::vector<std::string>{"price_above_limit"});
  std::erase_if(wide.books[0].entries, [](const auto& entry) { return entry.region == "eu"; });
  EXPECT_EQ(wide.in({}).rejected_because, std::vector<std::string>{"price_unknown"});
}

TEST(ExpectedPrice, InSeveralCurrenciesIsWithinNoLimit) {
  TwoRegions wide;
  PriceVersion euros{.id = 2, .book = "memory", .version = 1, .currency = "EUR"};
  euros.entries.push_back(
      {.provider = "wide", .meter = MeterKind::memory_gib_second, .terms = {.unit_price = 9}});
  wide.books.push_back(euros);
  EXPECT_EQ(wide.in({"us"}).price_per_hour->to_string(), "3600");
  EXPECT_EQ(wide.in({"us"}).rejected_because, std::vector<std::string>{"price_unknown"});
  wide.books.back().entries[0].terms.unit_price = 0;
  EXPECT_TRUE(wide.in({"us"}).eligible());
  wide.books.back().entries[0].meter = MeterKind::egress_gib;
  wide.books.back().entries[0].terms.unit_price = 9;
  EXPECT_TRUE(wide.in({"us"}).eligible()) << "what depends on use is in no price per hour";
}

}  // namespace
}  // namespace sandgate
