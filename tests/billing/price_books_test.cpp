#include "billing/price_books.hpp"

#include "tests/billing/billing_fixture.hpp"

namespace sandgate {
namespace {

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

}  // namespace
}  // namespace sandgate
