#include "gateway/api/ledger.hpp"

#include <gtest/gtest.h>

#include "billing/ledger.hpp"
#include "tests/billing/billing_fixture.hpp"

namespace sandgate::api {
namespace {

using test::run;

class LedgerApiTest : public test::BillingFixture {
 protected:
  Json transfers() {
    http::Request request;
    request.caller = {.role = http::Role::operator_};
    const auto response = run(handlers.list(request));
    return Json::parse(std::get<std::string>(response.body)).at("items");
  }

  UsageReader usage{*database, meter};
  LedgerHandlers handlers{*database, usage};
};

TEST_F(LedgerApiTest, ATransferThatIsNobodysNamesNoTenant) {
  run(database->run([&](pqxx::work& tx) {
    post_loss(tx, "d1", Money{test::dec("1"), "USD"}, "orphan");
    post(tx, make_transfer(Money{test::dec("2"), "USD"}, "credit", tenant, std::string(kPrepaid),
                           credits_of(tenant)));
  }));
  const Json items = transfers();
  ASSERT_EQ(items.size(), 2u);
  EXPECT_FALSE(items[0].contains("tenant")) << items[0];
  EXPECT_EQ(items[1].at("tenant"), tenant.value);
}

}  // namespace
}  // namespace sandgate::api
