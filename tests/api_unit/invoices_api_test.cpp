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

  Json page(const std::string& query) {
    http::Request request;
    request.query = http::Query(query);
    request.caller = {.role = http::Role::billing, .tenant = tenant};
    return Json::parse(std::get<std::string>(run(handlers.list(request)).body));
  }
  static std::string id_of(const http::Response& response) {
    return Json::parse(std::get<std::string>(response.body))["id"];
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

TEST_F(InvoicesApiTest, ACreditNoteIsTiedToItsCall) {
  const std::string id = "in" + std::string(24, '1');
  run(database->run([&](pqxx::work& tx) {
    tx.exec_params(
        "INSERT INTO invoice (id, tenant, period_from, period_to, currency, total, state,"
        " issued_at, through_sequence)"
        " VALUES ($1, $2, '2025-10-01', '2025-11-01', 'USD', 5, 'issued', now(), 0)",
        id, tenant.value);
    tx.exec(
        "INSERT INTO idempotent_call (scope, operation, key, body_hash, state, owner, lease_until)"
        " VALUES ('operator', 'POST', 'k', '', 'running', 'this call', now())");
  }));
  http::Request request;
  request.headers.add("Content-Type", "application/json");
  request.body = R"({"amount":"1","reason":"it was down"})";
  request.caller = {.role = http::Role::operator_};
  request.params = {{"id", id}};
  request.claim = "taken over by a retry";
  EXPECT_EQ(test::code_of([&] { run(handlers.credit(request)); }), ErrorCode::conflict);
  request.claim = "this call";
  EXPECT_EQ(run(handlers.credit(request)).status, 201);
  EXPECT_EQ(rows("SELECT effect FROM idempotent_call"), std::vector<std::string>{id});
  EXPECT_EQ(rows("SELECT FROM credit_note").size(), 1u);
}

TEST_F(InvoicesApiTest, ThePageNamesItsIssuer) {
  InvoiceHandlers issuing{invoices, usage, "Us & Co"};
  http::Request request;
  request.caller = {.role = http::Role::billing, .tenant = tenant};
  const std::string id = Json::parse(std::get<std::string>(draft("").body))["id"];
  request.params = {{"id", id + ".html"}};
  const auto page = std::get<std::string>(run(issuing.get(request)).body);
  EXPECT_NE(page.find("<p>Us &amp; Co</p>"), std::string::npos) << page;
}

TEST_F(InvoicesApiTest, DraftsTakeAPlaceAmongTheTenantsReports) {
  std::vector<std::shared_ptr<void>> places;
  for (int i = 0; i < 8; ++i) places.push_back(usage.acquire_report_slot(tenant));
  EXPECT_EQ(test::code_of([&] { draft(""); }), ErrorCode::rate_limited);
  places.pop_back();
  EXPECT_EQ(draft("").status, 201);
}

TEST_F(InvoicesApiTest, TheNewestDraftsAreKept) {
  run(database->run([&](pqxx::work& tx) {
    tx.exec_params(
        "INSERT INTO invoice (id, tenant, period_from, period_to, currency, created_at)"
        " SELECT 'in' || lpad(i::text, 24, '0'), $1, '2025-10-01', '2025-11-01', 'USD',"
        " '2025-12-01'::timestamptz + i * interval '1 second' FROM generate_series(1, 120) i",
        tenant.value);
    tx.exec(
        "INSERT INTO invoice_line SELECT id, 1, NULL, 'vcpu_second', 'd', 'p', 1, 1, 1, 1"
        " FROM invoice");
    tx.exec(
        "UPDATE invoice SET state = 'issued', issued_at = now(), through_sequence = 0"
        " WHERE id = 'in' || lpad('1', 24, '0')");
  }));
  const std::string made = Json::parse(std::get<std::string>(draft("").body))["id"];
  const auto kept = rows("SELECT id FROM invoice WHERE state = 'draft' ORDER BY created_at");
  EXPECT_EQ(kept.size(), 100u);
  EXPECT_EQ(kept.front(), "in" + std::string(22, '0') + "22");
  EXPECT_EQ(kept.back(), made);
  EXPECT_EQ(rows("SELECT FROM invoice WHERE state = 'issued'").size(), 1u);
  EXPECT_EQ(rows("SELECT FROM invoice_line").size(), 100u) << "99 drafts' and the issued one's";
}

// The oldest drafts are the first of the list, and the first to be removed.
TEST_F(InvoicesApiTest, AListGoesOnAfterADraftThatWasRemovedMeanwhile) {
  const std::string first = id_of(draft("")), second = id_of(draft(""));
  const Json begun = page("limit=1");
  EXPECT_EQ(begun["items"][0]["id"], first);
  run(database->run(
      [&](pqxx::work& tx) { tx.exec_params("DELETE FROM invoice WHERE id = $1", first); }));
  const Json rest = page("limit=1&cursor=" + begun["next_cursor"].get<std::string>());
  ASSERT_EQ(rest["items"].size(), 1u);
  EXPECT_EQ(rest["items"][0]["id"], second);
}

}  // namespace
}  // namespace sandgate::api
