#include "gateway/api/ledger.hpp"

#include <gtest/gtest.h>

#include "billing/ledger/ledger.hpp"
#include "tests/billing/billing_fixture.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate::api {
namespace {

using test::run;

class LedgerApiTest : public test::BillingFixture {
 protected:
  Json transfers(const std::string& query = "") {
    http::Request request;
    request.caller = {.role = http::Role::operator_};
    request.query = http::Query(query);
    const auto response = run(handlers.list(request));
    return Json::parse(std::get<std::string>(response.body)).at("items");
  }

  UsageReader usage{*database, meter};
  LedgerHandlers handlers{usage};
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

TEST_F(LedgerApiTest, ATenantsAccountIsFoundByItsLastWord) {
  run(database->run([&](pqxx::work& tx) {
    post(tx, make_transfer(Money{test::dec("2"), "USD"}, "credit", tenant, std::string(kPrepaid),
                           credits_of(tenant)));
    post(tx, make_transfer(Money{test::dec("3"), "USD"}, "usage", tenant, receivable_of(tenant),
                           std::string(kRevenue)));
  }));
  const auto reasons = [&](const std::string& account) {
    Json found = Json::array();
    for (const Json& transfer : transfers("account=" + account + "&tenant=" + tenant.value))
      found.push_back(transfer.at("reason"));
    return found;
  };
  EXPECT_EQ(reasons("credits"), Json::array({"credit"}));
  EXPECT_EQ(reasons("receivable"), Json::array({"usage"}));
  EXPECT_EQ(reasons(receivable_of(tenant)), Json::array({"usage"}));
  EXPECT_EQ(reasons("revenue"), Json::array({"usage"}));
}

TEST_F(LedgerApiTest, AnAccountThatEveryTenantHasIsNamedWithItsTenant) {
  for (const std::string account : {"receivable", "credits", ""}) {
    SCOPED_TRACE(account);
    EXPECT_EQ(test::code_of([&] { transfers("account=" + account); }), ErrorCode::invalid);
  }
}

}  // namespace
}  // namespace sandgate::api
