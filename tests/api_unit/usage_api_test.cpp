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

  UsageReader usage{*database, meter};
  UsageHandlers handlers{*database, usage};
};

// What was booked a moment ago is not booked again, so that nothing but the export itself asks.
TEST_F(UsageApiTest, AnExportInAnOutageIsNoAnswerThatBreaksOff) {
  for (const char* format : {"csv", "json", "focus"}) EXPECT_EQ(status_of_export(format), 200);
  test::TestDatabase::stop_cluster();
  for (const char* format : {"csv", "json", "focus"})
    EXPECT_EQ(test::code_of([&] { status_of_export(format); }), ErrorCode::unavailable) << format;
  test::TestDatabase::start_cluster();
}

}  // namespace
}  // namespace sandgate::api
