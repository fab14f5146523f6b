#include "billing/prices/price_books.hpp"

#include <future>

#include <pqxx/pqxx>

#include "billing/prices/shipped_prices.hpp"
#include "tests/billing/billing_fixture.hpp"
#include "tests/support/eventually.hpp"

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

  static std::string acme_costs(const std::string& from, const std::string& unit_price) {
    return R"({"kind":"cost","currency":"USD","effective_from":")" + from +
           R"(","entries":[{"provider":"acme","meter":"vcpu_second","unit_price":")" + unit_price +
           R"("}]})";
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

// A history of years takes longer to read than a transaction may last.
TEST_F(PriceBooksTest, OfAllVersionsOnlyThoseThatAreNewAreRead) {
  publish("list", acme_costs("2026-01-01", "1"));
  pqxx::connection other(database.url());
  pqxx::work removing(other);
  removing.exec("SET LOCAL session_replication_role = replica; DELETE FROM price_entry");
  removing.commit();
  insert_version("other", "2026-11-20T11:00:00Z", acme_costs("2026-01-01", "2"));
  const PriceScope scope{tenant.value, "acme", "acme-1", "eu"};
  const auto rating = run(database->run([&](pqxx::work& tx) { return books.lock(tx, &clock); }));
  const auto price_at = [&](const char* time) {
    const auto price = rating.prices->cost(scope, MeterKind::vcpu_second, test::at(time));
    return price ? price->entry->terms.unit_price.to_string() : "none";
  };
  EXPECT_EQ(price_at("2026-11-20T10:00:00Z"), "1") << "read before it was removed";
  EXPECT_EQ(price_at("2026-11-20T12:00:00Z"), "2");
}

// What is set aside is marked for each of many sandboxes.
TEST_F(PriceBooksTest, APublicationMayTakeLongerThanOtherWork) {
  rows(
      "CREATE FUNCTION take_long() RETURNS trigger LANGUAGE plpgsql AS"
      " 'BEGIN PERFORM pg_sleep(0.6); RETURN NEW; END'");
  rows(
      "CREATE TRIGGER takes_long BEFORE INSERT ON price_version"
      " FOR EACH ROW EXECUTE FUNCTION take_long()");
  Database impatient(
      {.url = database.url(), .connections = 1, .patience = std::chrono::milliseconds(300)});
  run(seed_prices(impatient));
  PriceBooks own(impatient);
  const Json draft = parse_json(acme_costs("2026-01-01", "1"));
  run(own.publish(price_version_from(draft, "list")));
  EXPECT_EQ(run(books.list()).size(), 2u);
}

// To try again would be refused: only a book's first version begins in the past.
TEST_F(PriceBooksTest, WhatIsPublishedIsSoThoughItCannotBeReadAgain) {
  pqxx::connection other(database.url());
  pqxx::work holding(other);
  std::future<void> held;
  Database impatient(
      {.url = database.url(), .connections = 1, .patience = std::chrono::seconds(1)});
  PriceBooks own(impatient);
  const ChangeTrail trail = [&](pqxx::work&, const Json&, const Json&) {
    held = std::async(std::launch::async,
                      [&] { holding.exec("LOCK TABLE price_version IN ACCESS EXCLUSIVE MODE"); });
    EXPECT_TRUE(test::eventually([&] { return database.has_lock_waiter(); }));
  };
  const Json draft = parse_json(acme_costs("2026-01-01", "1"));
  EXPECT_EQ(run(own.publish(price_version_from(draft, "list"), trail)).version, 1);
  held.get();
  holding.abort();
  EXPECT_EQ(run(books.get("list")).size(), 1u);
}

}  // namespace
}  // namespace sandgate
