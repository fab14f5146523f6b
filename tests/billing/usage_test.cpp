#include "billing/usage/usage_query.hpp"

#include <gtest/gtest.h>

#include <future>

#include "billing/usage/usage_export.hpp"
#include "billing/usage/usage_reader.hpp"
#include "tests/billing/billing_fixture.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::run;

class UsageTest : public test::BillingFixture {
 protected:
  UsageReport read(UsageQuery query) {
    return run(database->run([&](pqxx::work& tx) { return read_usage(tx, query); }));
  }

  void two_days() {
    publish("list", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
      "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.01"}]})");
    publish("sell", R"({"kind":"charge","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
      "markup_percent":"50","entries":[]})");
    const Resources size{.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0};
    clock.set("2026-11-19T23:59:00Z");
    const auto first = open(size, {{"run", "42"}});
    const auto second = open(size, {{"run", "43"}});
    clock.advance(90s);
    close(first);
    close(second);
    tenant = TenantId::make();
    close(open(size));
  }
};

TEST_F(UsageTest, GroupsByAnything) {
  const TenantId first = tenant;
  two_days();
  const UsageQuery november{.from = from_rfc3339("2026-11-01T00:00:00Z"),
                            .to = from_rfc3339("2026-12-01T00:00:00Z")};
  UsageQuery query = november;
  const auto total = read(query);
  EXPECT_EQ(total.total.meters.at("vcpu_second"), Decimal(180));
  EXPECT_EQ(total.total.meters.at("sandbox_created"), Decimal(3));
  EXPECT_EQ(total.total.cost.to_string(), "1.8");
  EXPECT_EQ(total.total.charge.to_string(), "2.7");
  EXPECT_EQ(total.currency, "USD");

  for (const auto& [field, groups] :
       std::vector<std::pair<std::string, size_t>>{{"tenant", 2},
                                                   {"profile", 1},
                                                   {"deployment", 1},
                                                   {"meter", 2},
                                                   {"metadata.run", 3},
                                                   {"day", 2},
                                                   {"sandbox", 3},
                                                   {"provider", 1}}) {
    query.group_by = {field};
    const auto report = read(query);
    EXPECT_EQ(report.items.size(), groups) << field;
    EXPECT_EQ(report.total.charge, total.total.charge) << field;
    EXPECT_EQ(report.total.meters, total.total.meters) << field;
  }
  query.group_by = {"day", "metadata.run"};
  query.tenant = first;
  const auto report = read(query);
  ASSERT_EQ(report.items.size(), 4u);
  EXPECT_EQ(report.items[0].group[0], "2026-11-19");
  EXPECT_EQ(report.items[0].group[1], "42");
  EXPECT_EQ(report.items[0].meters.at("vcpu_second"), Decimal(60));
  EXPECT_EQ(report.items[2].meters.at("vcpu_second"), Decimal(30));
}

TEST_F(UsageTest, QuantitiesFollowTheCurrencyAndTheUnpricedCountAlways) {
  two_days();
  publish("euros", R"({"kind":"cost","currency":"EUR","effective_from":"2026-11-21T00:00:00Z",
    "entries":[{"provider":"acme","deployment":"acme-1","meter":"vcpu_second","unit_price":"2"}]})");
  clock.set("2026-11-22T12:00:00Z");
  const auto id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  clock.advance(5s);
  close(id);
  const auto in = [&](const std::string& currency) {
    return read({.from = from_rfc3339("2026-11-01T00:00:00Z"),
                 .to = from_rfc3339("2026-12-01T00:00:00Z"),
                 .group_by = {"day"},
                 .currency = currency});
  };
  const auto euros = in("EUR"), dollars = in("USD");
  EXPECT_EQ(euros.total.charge, Decimal(10));
  EXPECT_EQ(euros.total.meters.at("vcpu_second"), Decimal(5));
  EXPECT_EQ(euros.other_currencies, std::vector<std::string>{"USD"});
  EXPECT_EQ(dollars.total.meters.at("vcpu_second"), Decimal(180));
  EXPECT_EQ(dollars.total.meters.at("sandbox_created"), Decimal(4)) << "costs nothing anywhere";
  EXPECT_EQ(euros.total.meters.at("sandbox_created"), Decimal(4));
}

TEST_F(UsageTest, AnswersPartsOfDaysFromTheEvents) {
  two_days();
  const auto report = read({.from = from_rfc3339("2026-11-19T23:59:00Z"),
                            .to = from_rfc3339("2026-11-20T00:00:00Z"),
                            .group_by = {"day"}});
  ASSERT_EQ(report.items.size(), 1u);
  EXPECT_EQ(report.total.meters.at("vcpu_second"), Decimal(120));
  const auto refused_at = [&](const UsageQuery& query) {
    try {
      read(query);
    } catch (const Error& error) {
      return error.fields.at(0).path;
    }
    return std::string("nothing");
  };
  EXPECT_EQ(refused_at({.from = from_rfc3339("2026-11-20T00:00:00Z"),
                        .to = from_rfc3339("2026-11-20T00:00:00Z")}),
            "/to");
  EXPECT_EQ(refused_at({.group_by = {"tenant; DROP TABLE usage_event"}}), "/group_by");
}

TEST_F(UsageTest, ReadingWritesNothingAndIsUpToNow) {
  two_days();
  const auto id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0}, {{"run", "44"}});
  const auto events = [&] { return rows("SELECT count(*) FROM usage_event").at(0); };
  const std::string before = events();
  UsageReader reader(*database, meter);
  clock.advance(40s);
  UsageQuery query{.tenant = tenant, .from = from_rfc3339("2026-11-01T00:00:00Z")};
  for (const char* field : {"profile", "day", "sandbox", "metadata.run"}) {
    query.group_by = {field};
    const auto report = run(reader.read(query));
    EXPECT_EQ(report.total.meters.at("vcpu_second"), Decimal(40)) << field;
    EXPECT_EQ(report.total.meters.at("sandbox_created"), Decimal(2)) << field;
    EXPECT_EQ(report.total.charge.to_string(), "0.6") << field;
  }
  query.from = from_rfc3339("2026-11-20T00:00:50Z");
  EXPECT_EQ(run(reader.read(query)).total.meters.contains("vcpu_second"), false)
      << "it began before";
  EXPECT_EQ(events(), before);
  run(meter.flush_tenant(*database, tenant));
  query.from = from_rfc3339("2026-11-01T00:00:00Z");
  EXPECT_EQ(run(reader.read(query)).total.meters.at("vcpu_second"), Decimal(40)) << "once";
  close(id);
}

TEST_F(UsageTest, ABookingThatFailedIsTriedAgainAtOnce) {
  open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  clock.advance(40s);
  UsageReader reader(*database, meter);
  meter.set_before_flush([]() -> Task<void> {
    throw Error(ErrorCode::unavailable, "not now");
    co_return;
  });
  EXPECT_EQ(test::code_of([&] { run(reader.refresh(tenant)); }), ErrorCode::unavailable);
  meter.set_before_flush({});
  run(reader.refresh(tenant));
  EXPECT_EQ(meters()["vcpu_second"], "40");
  clock.advance(40s);
  run(reader.refresh(tenant));
  EXPECT_EQ(meters()["vcpu_second"], "40") << "within the same second";
}

TEST_F(UsageTest, SumsThatWouldLackSomethingAreRefused) {
  run(database->run_within(60s, [&](pqxx::work& tx) {
    tx.exec_params(
        "INSERT INTO metered_sandbox (sandbox, tenant, profile, profile_version, deployment,"
        " provider, region, state, closed_as, milli_vcpu, memory_mib, disk_gib, opened_at,"
        " boundary, observed_at, unbooked_end) SELECT 'sb' || lpad(i::text, 24, '0'), $1, 'python',"
        " 1, 'acme-1', 'acme', 'eu', 'closed', 'running', 1000, 0, 0, t, t, t, t"
        " FROM generate_series(0, 100000) i, (SELECT now()) AS at (t)",
        tenant.value);
  }));
  const auto look = [&](pqxx::work& tx) { return meter.unbooked(tx, std::nullopt).size(); };
  EXPECT_EQ(test::code_of([&] { run(database->run_within(60s, look)); }), ErrorCode::too_large);
}

TEST_F(UsageTest, ASpanWithoutABeginningBeginsWithTheMonthItEndsIn) {
  const auto report = read({.to = from_rfc3339("2026-11-01T00:00:00Z")});
  EXPECT_EQ(to_rfc3339(report.from), "2026-10-01T00:00:00Z");
  EXPECT_EQ(to_rfc3339(report.to), "2026-11-01T00:00:00Z");
  const auto future = read({.from = from_rfc3339("2100-01-01T00:00:00Z")});
  EXPECT_EQ(future.from, future.to);
  EXPECT_TRUE(future.items.empty());
}

TEST_F(UsageTest, OneTenantsReportsLeaveTheOthersTheirs) {
  UsageReader reader(*database, meter);
  const auto read = [&](const TenantId& whose) { run(reader.read({.tenant = whose})); };
  std::vector<std::shared_ptr<void>> places;
  for (int i = 0; i < 8; ++i) places.push_back(reader.acquire_report_slot(tenant));
  EXPECT_EQ(test::code_of([&] { read(tenant); }), ErrorCode::rate_limited);
  EXPECT_FALSE(test::code_of([&] { read(TenantId::make()); }));
  places.pop_back();
  EXPECT_FALSE(test::code_of([&] { read(tenant); }));
  EXPECT_FALSE(test::code_of([&] { read(tenant); })) << "it gave its place back";
}

TEST_F(UsageTest, OneTenantsReportsLeaveAConnectionToOthers) {
  UsageReader reader(*database, meter);
  auto turn = run(reader.acquire_connection(tenant));
  auto waiting = std::async(std::launch::async, [&] { run(reader.read({.tenant = tenant})); });
  run(reader.read({.tenant = TenantId::make()}));
  EXPECT_EQ(waiting.wait_for(100ms), std::future_status::timeout);
  turn.reset();
  waiting.get();
}

TEST_F(UsageTest, ExportsEveryEventOnce) {
  two_days();
  // From the first moment that a request may mean on.
  const UsageExport all{.from = from_rfc3339("0001-01-02T00:00:00Z").value() - 24h,
                        .to = from_rfc3339("2026-12-01T00:00:00Z").value()};
  std::vector<std::string> ids;
  std::optional<UsageRow> last;
  for (;;) {
    const auto page =
        run(database->run([&](pqxx::work& tx) { return read_usage_page(tx, all, last, 2); }));
    for (const UsageRow& row : page) ids.push_back(row.id);
    if (page.size() < 2) break;
    last = page.back();
  }
  EXPECT_EQ(ids.size(), 7u);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 7u);
}

TEST(UsageExport, WritesLinesInEachFormat) {
  const UsageRow row{.id = "i",
                     .tenant = "t",
                     .sandbox = "s",
                     .deployment = "d",
                     .provider = "p",
                     .region = "r",
                     .profile = "f",
                     .meter = "vcpu_second",
                     .quantity = "1.5",
                     .interval_start = from_rfc3339("2026-11-20T12:00:00Z").value(),
                     .interval_end = from_rfc3339("2026-11-20T12:00:01.5Z").value(),
                     .cost = "0.1",
                     .cost_currency = "USD",
                     .charge = "0.2",
                     .charge_currency = "EUR",
                     .tenant_name = "Acme",
                     .metadata = R"({"run": "7"})"};
  const UsageLayout csv{UsageFormat::csv, true};
  EXPECT_EQ(usage_line(csv, row),
            "i,t,s,d,p,f,vcpu_second,1.5,2026-11-20T12:00:00Z,2026-11-20T12:00:01.500000Z,0.1,0.2,"
            "EUR,USD\r\n");
  EXPECT_THAT(usage_header(csv), testing::EndsWith(",cost,charge,currency,cost_currency\r\n"));
  EXPECT_EQ(test::code_of([&] { usage_line({UsageFormat::csv}, row); }), ErrorCode::unavailable)
      << "a cost in another currency has no place";
  const Json json = Json::parse(usage_line({UsageFormat::json}, row));
  EXPECT_EQ(json["charge"], "0.2");
  EXPECT_EQ(json["currency"], "EUR");
  EXPECT_EQ(json["cost_currency"], "USD");
  const std::string header = usage_header({UsageFormat::focus});
  const std::string line = usage_line({UsageFormat::focus}, row);
  EXPECT_EQ(std::count(header.begin(), header.end(), ','),
            std::count(line.begin(), line.end(), ','));
  EXPECT_THAT(header, testing::StartsWith("BilledCost,BillingAccountId,BillingAccountName,"));
  EXPECT_THAT(header, testing::HasSubstr(",ChargeCategory,ChargeClass,ChargeDescription,"));
  EXPECT_THAT(line, testing::StartsWith("0.2,t,Acme,EUR,"));
  EXPECT_THAT(header, testing::HasSubstr(",SubAccountId,SubAccountName,Tags,x_EventId,"));
  EXPECT_THAT(line, testing::HasSubstr(R"csv(,f,f,"{""run"": ""7""}",i,)csv"));
}

}  // namespace
}  // namespace sandgate
