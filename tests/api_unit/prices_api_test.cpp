#include "gateway/api/prices.hpp"

#include <gtest/gtest.h>

#include "tests/billing/billing_fixture.hpp"

namespace sandgate::api {
namespace {

using namespace std::chrono_literals;
using test::run;

class PricesApiTest : public test::BillingFixture {
 protected:
  Json previewed(const std::string& draft) {
    http::Request request;
    request.caller = {.role = http::Role::operator_};
    request.params["book"] = "list";
    request.query = http::Query("from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z");
    request.headers.add("Content-Type", "application/json");
    request.body = draft;
    const auto response = run(handlers.preview(request));
    return Json::parse(std::get<std::string>(response.body));
  }

  // Where the draft is wrong.
  std::vector<std::string> mistakes(const std::string& draft) {
    std::vector<std::string> paths;
    try {
      previewed(draft);
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::invalid);
      for (const FieldProblem& field : error.fields) paths.push_back(field.path);
    }
    return paths;
  }

  // The unit prices on the page after `cursor` of versions, and the next cursor.
  std::pair<std::vector<std::string>, std::string> page(
      Task<http::Response> (PriceHandlers::*handler)(http::Request&), const std::string& cursor) {
    http::Request request;
    request.caller = {.role = http::Role::operator_};
    request.params["book"] = "list";
    request.query = http::Query("limit=1" + (cursor.empty() ? "" : "&cursor=" + cursor));
    const auto response = run((handlers.*handler)(request));
    const Json answer = Json::parse(std::get<std::string>(response.body));
    std::vector<std::string> prices;
    for (const Json& version : answer["items"])
      for (const Json& entry : version["entries"]) prices.push_back(entry["unit_price"]);
    const Json& next = answer["next_cursor"];
    return {prices, next.is_null() ? "" : next.get<std::string>()};
  }

  UsageReader usage{*database, meter};
  PriceHandlers handlers{books, *database, usage, clock};
};

TEST_F(PricesApiTest, APreviewCountsWhatHasJustEnded) {
  publish("list", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.001"}]})");
  open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  clock.advance(1000s);
  // As an end is recorded whose usage is booked a moment later.
  rows("UPDATE metered_sandbox SET state = 'closed', closed_as = 'running', unbooked_end = '" +
       to_rfc3339(clock.now()) + "' RETURNING 1");
  const Json answer = previewed(R"({"kind":"cost","currency":"USD",
    "effective_from":"2027-01-01T00:00:00Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.003"}]})");
  ASSERT_FALSE(answer["total"].empty()) << answer;
  EXPECT_EQ(answer["total"][0]["booked"]["charge"], "1");
  EXPECT_EQ(answer["total"][0]["preview"]["charge"], "3");
}

TEST_F(PricesApiTest, APageHasItsVersionsEntries) {
  for (const std::string from : {"2026-01-01", "9000-01-01"})
    publish("list",
            R"({"kind":"cost","currency":"USD","effective_from":")" + from +
                R"(","entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.)" +
                from.substr(0, 1) + R"("}]})");
  for (const auto handler : {&PriceHandlers::list, &PriceHandlers::get}) {
    const auto [first, more] = page(handler, "");
    EXPECT_EQ(first, std::vector<std::string>{"0.2"});
    const auto [second, end] = page(handler, more);
    EXPECT_EQ(second, std::vector<std::string>{"0.9"});
    EXPECT_EQ(end, "");
  }
}

TEST_F(PricesApiTest, NamesThatNothingHasArePointedAt) {
  using Paths = std::vector<std::string>;
  const std::string head = R"({"currency":"USD","effective_from":"2027-01-01T00:00:00Z",)";
  EXPECT_EQ(mistakes(head + R"("kind":"cost","entries":[
    {"provider":"*","deployment":"main_1.b","region":"EU West","meter":"vcpu_second",
     "unit_price":"1"},
    {"provider":"acme","deployment":"Main","meter":"vcpu_second","unit_price":"1"},
    {"provider":"Acme ","meter":"vcpu_second","unit_price":"1"}]})"),
            (Paths{"/entries/1/deployment", "/entries/2/provider"}));
  // Not a book for all tenants, as one that leaves the tenant out.
  EXPECT_EQ(mistakes(head + R"("kind":"charge","tenant":"","markup_percent":"5"})"),
            Paths{"/tenant"});
}

TEST_F(PricesApiTest, ABookTakesPricesOfEveryCurrency) {
  using Paths = std::vector<std::string>;
  const auto book = [](const std::string& price) {
    return R"({"kind":"cost","currency":"VND","effective_from":"2027-01-01T00:00:00Z","entries":[
      {"provider":"acme","meter":"sandbox_created","unit_price":")" +
           price + "\"}]}";
  };
  EXPECT_EQ(mistakes(book("2500000")), Paths());
  EXPECT_EQ(mistakes(book("999999999999.999999999999999999")), Paths());
  EXPECT_EQ(mistakes(book("1000000000000.1")), Paths{"/entries/0/unit_price"});
}

TEST_F(PricesApiTest, TheListHasWhatIsInForceAndWhatIsPending) {
  const auto put = [&](const std::string& book, const std::string& from) {
    insert_version(book, from,
                   R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
                     "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"1"}]})");
  };
  put("a", "2020-01-01T00:00:00Z");
  put("a", "2021-01-01T00:00:00Z");
  put("a", "9000-01-01T00:00:00Z");
  put("b", "2020-01-01T00:00:00Z");
  put("b", "9002-01-01T00:00:00Z");
  put("b", "9001-01-01T00:00:00Z");  // the one before never begins
  put("c", "2020-01-01T00:00:00Z");
  http::Request request;
  request.caller = {.role = http::Role::operator_};
  const auto response = run(handlers.list(request));
  std::vector<std::string> shown;
  const Json answer = Json::parse(std::get<std::string>(response.body));
  for (const Json& one : answer["items"])
    shown.push_back(one["book"].get<std::string>() + std::to_string(one["version"].get<int>()));
  EXPECT_EQ(shown, (std::vector<std::string>{"a2", "a3", "b1", "b3", "c1"}));
}

// The clock of charges: this machine's may be hours off.
TEST_F(PricesApiTest, WhatIsInForceIsJudgedByTheClockOfCharges) {
  const auto put = [&](Time from) {
    insert_version("a", to_rfc3339(from),
                   R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
                     "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"1"}]})");
  };
  const auto in_force = [&] {
    http::Request request;
    request.caller = {.role = http::Role::operator_};
    const auto response = run(handlers.list(request));
    std::string told;
    const Json answer = Json::parse(std::get<std::string>(response.body));
    for (const Json& one : answer["items"]) told += one["in_force"].get<bool>() ? "yes " : "no ";
    return told;
  };
  put(clock.now() - 1h);
  put(clock.now() + 1h);
  EXPECT_EQ(in_force(), "yes no ");
  clock.advance(2h);
  EXPECT_EQ(in_force(), "yes ");
}

// Whatever the database sorts texts by.
TEST_F(PricesApiTest, APageGoesOnWhereTheOneBeforeItEnded) {
  run(database->run([](pqxx::work& tx) {
    tx.exec("ALTER TABLE price_version ALTER COLUMN book TYPE text COLLATE \"en-x-icu\"");
  }));
  for (const char* book : {"list1", "list_"})  // English sorts them the other way round
    publish(book, R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01","entries":[
      {"provider":"acme","meter":"vcpu_second","unit_price":"0.1"}]})");
  const auto [first, more] = page(&PriceHandlers::list, "");
  const auto [second, end] = page(&PriceHandlers::list, more);
  EXPECT_EQ(first.size() + second.size(), 2u);
  EXPECT_EQ(end, "");
}

}  // namespace
}  // namespace sandgate::api
