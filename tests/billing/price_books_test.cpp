#include "billing/price_books.hpp"

#include "billing/shipped_prices.hpp"
#include "tests/billing/billing_fixture.hpp"

namespace sandgate {
namespace {

using test::run;

class PriceBooksTest : public test::BillingFixture {
 protected:
  void publish_for(const TenantId& owner) {
    publish("own", R"({"kind":"charge","currency":"USD","effective_from":"2027-01-01T00:00:00Z",
      "markup_percent":"5","tenant":")" +
                       owner.value + R"("})");
  }
};

TEST_F(PriceBooksTest, ATenantsOwnBookIsOfATenantThereIs) {
  publish_for(tenant);
  try {
    publish_for(TenantId::make());
    FAIL() << "published for nobody";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::not_found);
  }
}

TEST_F(PriceBooksTest, AMarkupThatIsRefusedIsNoneThatIsMissing) {
  const auto problems = [](const std::string& markup) {
    std::vector<std::string> paths;
    try {
      price_version_from(parse_json(R"({"kind":"charge","currency":"USD",
        "effective_from":"2027-01-01T00:00:00Z")" +
                                    markup + "}"),
                         "own");
    } catch (const Error& error) {
      for (const auto& field : error.fields) paths.push_back(field.path);
    }
    return paths;
  };
  EXPECT_EQ(problems(R"(,"markup_percent":"-5")"), std::vector<std::string>{"/markup_percent"});
  EXPECT_EQ(problems(R"(,"markup_percent":5)"), std::vector<std::string>{"/markup_percent"});
  EXPECT_EQ(problems(R"(,"markup_percent":"5")"), std::vector<std::string>{});
  EXPECT_EQ(problems(""), std::vector<std::string>{"/entries"});
}

TEST_F(PriceBooksTest, AnOlderReleaseDoesNotBringItsPricesBack) {
  run(seed_prices(*database));
  publish("shipped", R"({"kind":"cost","currency":"USD","effective_from":"2027-01-01T00:00:00Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"1"}]})");
  run(seed_prices(*database));
  EXPECT_EQ(run(books.get("shipped")).size(), 2u);
}

}  // namespace
}  // namespace sandgate
