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

  // The lines of the export of all of the tenant's usage.
  std::string exported(UsageHandlers& handlers) {
    http::Request request;
    request.query = http::Query("format=json");
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
  EXPECT_NE(exported(handlers_there).find(id.value), std::string::npos);
}

}  // namespace
}  // namespace sandgate::api
