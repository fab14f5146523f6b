#include "gateway/api/invoices.hpp"

#include <gtest/gtest.h>

#include "tests/billing/billing_fixture.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate::api {
namespace {

using test::run;

class InvoicesApiTest : public test::BillingFixture {
 protected:
  http::Response draft(const std::string& claim) {
    http::Request request;
    request.headers.add("Content-Type", "application/json");
    request.body = R"({"period":"2026-10"})";
    request.caller = {.role = http::Role::billing, .tenant = tenant};
    request.claim = claim;
    return run(handlers.create(request));
  }

  Invoices invoices{*database};
  UsageReader usage{*database, meter};
  InvoiceHandlers handlers{invoices, usage};
};

TEST_F(InvoicesApiTest, ADraftIsTiedToItsCall) {
  EXPECT_EQ(draft("").status, 201);
  EXPECT_EQ(test::code_of([&] { draft("taken over by a retry"); }), ErrorCode::conflict);
  EXPECT_EQ(rows("SELECT FROM invoice").size(), 1u);
}

TEST_F(InvoicesApiTest, DraftsTakeAPlaceAmongTheTenantsReports) {
  std::vector<std::shared_ptr<void>> places;
  for (int i = 0; i < 8; ++i) places.push_back(usage.place_of(tenant));
  EXPECT_EQ(test::code_of([&] { draft(""); }), ErrorCode::rate_limited);
  places.pop_back();
  EXPECT_EQ(draft("").status, 201);
}

}  // namespace
}  // namespace sandgate::api
