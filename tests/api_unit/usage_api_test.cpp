#include "gateway/api/usage.hpp"

#include <gtest/gtest.h>

#include "tests/billing/billing_fixture.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate::api {
namespace {

using test::run;

class UsageApiTest : public test::BillingFixture {
 protected:
  int status_of_export(const std::string& format) {
    http::Request request;
    request.query = http::Query("format=" + format);
    request.caller = {.role = http::Role::billing, .tenant = tenant};
    return run(handlers.export_events(request)).status;
  }

  // The export of the tenant's usage since the month began, or of `query`.
  std::string exported(UsageHandlers& handlers, const std::string& query = "format=json") {
    http::Request request;
    request.query = http::Query(query);
    request.caller = {.role = http::Role::billing, .tenant = tenant};
    const http::Response response = run(handlers.export_events(request));
    struct : http::BodySink {
      Task<void> write(std::span<const char> bytes) override {
        text.append(bytes.data(), bytes.size());
        co_return;
      }
      std::string text;
    } sink;
    run(std::get<http::StreamBody>(response.body).produce(sink));
    return sink.text;
  }

  UsageReader usage{*database, meter};
  UsageHandlers handlers{*database, usage};
};

// One currency needs one column; a cost in another one is never without its own.
TEST_F(UsageApiTest, TheCurrencyOfCostsIsAColumnWhereItIsAnotherOne) {
  publish("list", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.01"}]})");
  publish("sell", R"({"kind":"charge","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
    "markup_percent":"50","entries":[]})");
  const std::string columns =
      "id,tenant,sandbox,deployment,provider,profile,meter,quantity,interval_start,interval_end,"
      "cost,charge,currency";
  const auto run_a_minute = [&] {
    const SandboxId id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
    clock.advance(std::chrono::seconds(60));
    close(id);
  };
  const auto lines = [&] { return exported(handlers, "format=csv&from=2026-01-01&to=2027-01-01"); };
  run_a_minute();
  EXPECT_TRUE(lines().starts_with(columns + "\r\n")) << lines();
  EXPECT_NE(lines().find(",0.6,0.9,USD\r\n"), std::string::npos) << lines();

  tenant = TenantId::make();
  rows("INSERT INTO tenant (id, name) VALUES ('" + tenant.value + "', 'other')");
  publish("euros", R"({"kind":"charge","currency":"EUR","effective_from":"2026-01-01T00:00:00Z",
    "tenant":")" + tenant.value +
                       R"(","entries":[{"provider":"acme","meter":"vcpu_second",
    "unit_price":"0.02"}]})");
  run_a_minute();
  EXPECT_TRUE(lines().starts_with(columns + ",cost_currency\r\n")) << lines();
  EXPECT_NE(lines().find(",0.6,1.2,EUR,USD\r\n"), std::string::npos) << lines();
}

struct UsageApiOutage : test::OwnCluster, UsageApiTest {};

// What was booked a moment ago is not booked again, so that nothing but the export itself asks.
TEST_F(UsageApiOutage, AnExportInAnOutageIsNoAnswerThatBreaksOff) {
  for (const char* format : {"csv", "json", "focus"}) EXPECT_EQ(status_of_export(format), 200);
  test::TestDatabase::stop_cluster();
  for (const char* format : {"csv", "json", "focus"})
    EXPECT_EQ(test::code_of([&] { status_of_export(format); }), ErrorCode::unavailable) << format;
  test::TestDatabase::start_cluster();
}

TEST_F(UsageApiTest, AnExportReachesToNowByTheDatabasesClock) {
  run(database->run([](pqxx::work& tx) {
    tx.exec(
        "CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS"
        " $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$");
    tx.exec(
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog',"
        " current_database()); END $$");
  }));
  Database ahead({.url = database.url(), .connections = 1});
  UsageReader reader(ahead, meter);
  UsageHandlers handlers_there(ahead, reader);
  clock.set(to_rfc3339(SystemClock().now() + std::chrono::minutes(30)));
  const SandboxId id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  clock.advance(std::chrono::seconds(60));
  close(id);
  // Where nothing says until when. In the last hour of a month that of the database is the next.
  const std::string since = to_rfc3339(clock.now() - std::chrono::hours(2));
  EXPECT_NE(exported(handlers_there, "format=json&from=" + since).find(id.value),
            std::string::npos);
}

}  // namespace
}  // namespace sandgate::api
