#include "billing/usage/meter.hpp"

#include <gtest/gtest.h>

#include "billing/prices/shipped_prices.hpp"
#include "billing/usage/metered_rows.hpp"
#include "billing/usage/usage_query.hpp"
#include "tests/billing/billing_fixture.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::BillingFixture;
using test::run;

class MeterTest : public BillingFixture {};

TEST_F(MeterTest, CountsEverySecondOnce) {
  const auto sandbox = open({.milli_vcpu = 1500, .memory_mib = 512, .disk_gib = 2});
  clock.advance(90s);
  EXPECT_EQ(run(meter.flush(*database)), 4u) << "three meters, and that it was created";
  EXPECT_EQ(run(meter.flush(*database)), 0u);
  clock.advance(10500ms);
  close(sandbox);
  close(sandbox);
  EXPECT_EQ(meters(), (Quantities{{"vcpu_second", "150.75"},
                                  {"memory_gib_second", "50.25"},
                                  {"disk_gib_second", "201"},
                                  {"sandbox_created", "1"}}));
}

TEST_F(MeterTest, FlushesOnlyWhatIsDue) {
  open({});
  clock.advance(59s);
  EXPECT_EQ(run(meter.flush(*database)), 0u);
  clock.advance(2s);
  EXPECT_EQ(run(meter.flush(*database)), 4u);
}

TEST_F(MeterTest, PausedTimeMetersWhatIsKept) {
  const auto sandbox = open({.milli_vcpu = 1000, .memory_mib = 1024, .disk_gib = 1});
  clock.advance(10s);
  change(sandbox, MeterState::paused_memory,
         {.milli_vcpu = 1000, .memory_mib = 1024, .disk_gib = 1});
  clock.advance(20s);
  change(sandbox, MeterState::paused_disk, {.milli_vcpu = 1000, .memory_mib = 1024, .disk_gib = 1});
  clock.advance(40s);
  change(sandbox, MeterState::running, {.milli_vcpu = 2000, .memory_mib = 2048, .disk_gib = 3});
  clock.advance(1s);
  close(sandbox);
  EXPECT_EQ(meters(), (Quantities{{"vcpu_second", "12"},
                                  {"memory_gib_second", "32"},
                                  {"disk_gib_second", "73"},
                                  {"sandbox_created", "1"}}));
}

TEST_F(MeterTest, AClockThatStepsBackBooksNothingTwice) {
  const auto sandbox = open({.milli_vcpu = 1000, .memory_mib = 1024, .disk_gib = 1});
  clock.advance(100s);
  run(meter.flush(*database));
  clock.advance(-3600s);
  run(meter.flush(*database));
  change(sandbox, MeterState::running, {.milli_vcpu = 1000, .memory_mib = 1024, .disk_gib = 1});
  clock.advance(3605s);
  close(sandbox);
  EXPECT_EQ(meters()["vcpu_second"], "105");
}

TEST_F(MeterTest, EndsNeitherInTheFutureNorBeforeWhatIsBooked) {
  const auto early = open({.milli_vcpu = 1000});
  const auto late = open({.milli_vcpu = 1000});
  clock.advance(100s);
  run(meter.flush(*database));
  clock.advance(10s);
  close(early, clock.now() - 60s);
  close(late, clock.now() + 60s);
  EXPECT_EQ(meters()["vcpu_second"], "210");
}

TEST_F(MeterTest, IntervalsEndAtQuartersAndPriceChanges) {
  clock.set("2026-11-20T12:14:00Z");
  publish("list", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.01"}]})");
  const auto sandbox = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  // Published versions must lie ahead of the database's own clock, so this one is written by hand.
  insert_version("list", "2026-11-20T12:15:30Z",
                 R"({"kind":"cost","currency":"USD","effective_from":"2026-11-20T12:15:30Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.03"}]})");
  clock.advance(150s);
  close(sandbox);
  EXPECT_EQ(
      rows("SELECT interval_start, quantity, trim_scale(cost) FROM usage_event"
           " WHERE meter = 'vcpu_second' ORDER BY 1"),
      (std::vector<std::string>{"2026-11-20 12:14:00+00|60|0.6", "2026-11-20 12:15:00+00|30|0.3",
                                "2026-11-20 12:15:30+00|60|1.8"}));
}

TEST_F(MeterTest, AContradictionHoldsUpNoEnd) {
  const auto id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  UsageBook book;
  const UsageEvent other{.sandbox = id,
                         .tenant = tenant.value,
                         .meter = MeterKind::vcpu_second,
                         .interval = {clock.now(), clock.now() + 7s},
                         .quantity = Decimal(7),
                         .rated = {.cost = {{}, "USD"}, .charge = {{}, "USD"}}};
  run(database->run([&](pqxx::work& tx) { book.record(tx, {other}); }));
  clock.advance(60s);
  EXPECT_NO_THROW(close(id));
  EXPECT_EQ(meter.conflicts(), 1u);
  EXPECT_EQ(rows("SELECT state FROM metered_sandbox"), std::vector<std::string>{"closed"});
  EXPECT_EQ(meters(), (Quantities{{"vcpu_second", "7"}})) << "nothing of the rest either";
}

TEST_F(MeterTest, ARepeatedEventIsSkippedAndAContradictionRefused) {
  const auto sandbox = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  UsageEvent event{.sandbox = sandbox,
                   .tenant = tenant.value,
                   .meter = MeterKind::egress_gib,
                   .interval = {clock.now(), clock.now() + 1s},
                   .quantity = Decimal(3)};
  event.rated.cost.currency = event.rated.charge.currency = "USD";
  UsageBook usage;
  const auto record = [&](const std::vector<UsageEvent>& events) {
    return run(database->run([&](pqxx::work& tx) { return usage.record(tx, events); }));
  };
  EXPECT_EQ(record({event}), 1u);
  EXPECT_EQ(record({event, event}), 0u);
  UsageEvent other = event;
  other.quantity = Decimal(4);
  EXPECT_THROW(record({other}), Error);
  EXPECT_EQ(usage.conflicts(), 1u);
  EXPECT_EQ(meters()["egress_gib"], "3");
}

TEST_F(MeterTest, EventsAreFacts) {
  run(seed_prices(*database));
  close(open({}));
  clock.set("2040-01-01T00:00:00Z");  // waits in the default partition
  close(open({}));
  for (const std::string change :
       {"UPDATE usage_event SET quantity = 0", "DELETE FROM usage_event", "TRUNCATE usage_event",
        "UPDATE usage_event_default SET quantity = 0", "UPDATE price_version SET version = 9",
        "DELETE FROM price_entry",
        "INSERT INTO usage_event SELECT gen_random_uuid(), now(), now(), 'x', 'x', 'x', 1, 'x',"
        " 'x', 'x', 'egress_gib', 1, 0, 0, 'USD', null, 0, 'USD'"})
    EXPECT_THROW(run(database->run([&](pqxx::work& tx) { tx.exec(change); })), Error) << change;
}

TEST_F(MeterTest, MeasuredCountersAreBookedAsDifferences) {
  const auto sandbox = open({});
  const auto observe = [&](int64_t bytes, int64_t micros) {
    clock.advance(1s);
    run(database->run([&](pqxx::work& tx) {
      meter.observe(tx, sandbox, {bytes, micros, clock.now()});
    }));
  };
  observe(1 << 30, 500'000);
  observe(3LL << 30, 1'500'000);
  observe(1 << 30, 2'000'000);  // the counter of bytes began anew
  EXPECT_EQ(meters()["egress_gib"], "4");
  EXPECT_EQ(meters()["active_cpu_second"], "2");
}

TEST_F(MeterTest, CountersAreCutWhereTimeIs) {
  insert_version("list", "2026-11-20T12:20:00Z",
                 R"({"kind":"cost","currency":"USD","effective_from":"2026-11-20T12:20:00Z",
    "entries":[{"provider":"acme","meter":"active_cpu_second","unit_price":"2"}]})");
  const auto sandbox = open({});  // at 12:00
  const auto observe = [&](const char* when, int64_t micros) {
    clock.set(when);
    run(database->run([&](pqxx::work& tx) {
      meter.observe(tx, sandbox, {std::nullopt, micros, clock.now()});
    }));
  };
  observe("2026-11-20T12:10:00Z", 1);
  observe("2026-11-20T12:40:00Z", 30'000'002);
  EXPECT_EQ(
      rows("SELECT to_char(interval_start, 'HH24:MI'), to_char(interval_end, 'HH24:MI'),"
           " trim_scale(quantity), trim_scale(cost) FROM usage_event"
           " WHERE meter = 'active_cpu_second' ORDER BY 1"),
      (std::vector<std::string>{"12:00|12:10|0.000001|0", "12:10|12:15|5|0", "12:15|12:20|5|0",
                                "12:20|12:30|10|20", "12:30|12:40|10.000001|20.000002"}));
}

TEST_F(MeterTest, WhatCountersSayIsOfTheRunningTimeAlone) {
  const Resources size{};
  const auto sandbox = open(size);  // at 12:00
  const auto observe = [&](int64_t micros) {
    run(database->run([&](pqxx::work& tx) {
      meter.observe(tx, sandbox, {std::nullopt, micros, clock.now()});
    }));
  };
  clock.set("2026-11-20T12:01:00Z");
  change(sandbox, MeterState::paused_memory, size);  // without a reading
  clock.set("2026-11-20T12:59:00Z");
  change(sandbox, MeterState::running, size);
  clock.set("2026-11-20T13:01:00Z");
  observe(3'000'000);
  clock.set("2026-11-20T13:02:00Z");
  // With one, and something after it.
  change(sandbox, MeterState::paused_disk, size, {{std::nullopt, 4'000'000, clock.now()}});
  clock.set("2026-11-20T13:05:00Z");
  observe(4'500'000);
  clock.set("2026-11-20T13:06:00Z");
  change(sandbox, MeterState::running, size);
  clock.set("2026-11-20T13:07:00Z");
  observe(5'000'000);
  EXPECT_EQ(rows("SELECT to_char(interval_start, 'HH24:MI'), to_char(interval_end, 'HH24:MI'),"
                 " trim_scale(quantity) FROM usage_event WHERE meter = 'active_cpu_second'"
                 " ORDER BY 1"),
            (std::vector<std::string>{"12:00|12:01|1", "12:59|13:00|1", "13:00|13:01|1",
                                      "13:01|13:02|1", "13:06|13:07|1"}));
}

// What a machine's clock does when it is set right in the middle of a flush.
struct ClockThatStepsBack : Clock {
  Time now() const override { return looks++ == 0 ? first : first - 3h; }
  Time first;
  mutable int looks = 0;
};

TEST_F(MeterTest, AFlushEndsWhenTheClockStepsBack) {
  open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  ClockThatStepsBack stepping;
  stepping.first = clock.now() + 10h;  // more than one transaction books
  Meter late(books, &stepping);
  EXPECT_GT(run(late.flush(*database, 0s)), 0u);
  EXPECT_LT(stepping.looks, 10);
}

TEST_F(MeterTest, AReadingCountsOnceAndAnOlderOneNever) {
  const auto sandbox = open({});
  const auto observe = [&](int64_t micros, Time sampled_at) {
    clock.advance(5s);
    run(database->run([&](pqxx::work& tx) {
      meter.observe(tx, sandbox, {std::nullopt, micros, sampled_at});
    }));
  };
  const Time begin = clock.now();
  observe(2'000'000, begin + 2s);
  observe(2'000'000, begin + 2s);  // again
  observe(1'000'000, begin + 1s);  // read before, arrives after: no counter began anew
  EXPECT_EQ(meters()["active_cpu_second"], "2");
  observe(500'000, begin + 3s);
  EXPECT_EQ(meters()["active_cpu_second"], "2.5");
}

TEST_F(MeterTest, WhatIsCountedAfterTheEndIsNotTheTenants) {
  const auto prompt = open({}), late = open({});
  clock.advance(10s);
  close(prompt);
  close(late);
  const auto observe = [&](const SandboxId& id) {
    run(database->run([&](pqxx::work& tx) {
      meter.observe(tx, id, {std::nullopt, 1'000'000, clock.now()});
    }));
  };
  clock.advance(1s);
  observe(prompt);
  clock.advance(60s);
  observe(late);
  // Read 71 seconds after its beginning, of which it was its tenant's for 10.
  const std::string end = "|2026-11-20 12:00:10+00|";
  EXPECT_EQ(rows("SELECT sandbox, interval_end, trim_scale(quantity) FROM usage_event"
                 " WHERE meter = 'active_cpu_second' ORDER BY quantity DESC"),
            (std::vector<std::string>{prompt.value + end + "1", late.value + end + "0.140845"}));
}

TEST_F(MeterTest, WhatIsCountedWhilePausedAtTheEndIsNotSpreadBeyondIt) {
  const auto sandbox = open({});
  clock.advance(10s);
  change(sandbox, MeterState::paused_disk, {});
  clock.advance(10s);
  close(sandbox);
  clock.advance(60s);
  run(database->run([&](pqxx::work& tx) {
    meter.observe(tx, sandbox, {std::nullopt, 1'000'000, clock.now()});
  }));
  EXPECT_EQ(meters()["active_cpu_second"], "1");
}

TEST_F(MeterTest, WhatNoMachineDoesIsNotBooked) {
  const auto sandbox = open({.milli_vcpu = 1500, .memory_mib = 0, .disk_gib = 0});
  const auto observe = [&](int64_t bytes, int64_t micros) {
    clock.advance(60s);
    run(database->run([&](pqxx::work& tx) {
      meter.observe(tx, sandbox, {bytes, micros, clock.now()});
    }));
  };
  observe(60LL * 3'000'000'000, 120'000'000);  // 24 Gbit/s, and two processors
  EXPECT_EQ(meters()["active_cpu_second"], "90") << "what was asked for";
  EXPECT_EQ(meter.implausible(), 0u);
  observe(int64_t{1} << 62, int64_t{1} << 62);
  EXPECT_EQ(meters()["active_cpu_second"], "180");
  // What 65 seconds may come to: a reading may be five seconds off.
  const std::vector<std::string> sent{std::to_string(60LL * 3'000'000'000 + 65LL * 3'125'000'000)};
  EXPECT_EQ(rows("SELECT trim_scale(sum(quantity) * 1024 * 1024 * 1024) FROM usage_event"
                 " WHERE meter = 'egress_gib'"),
            sent);
  EXPECT_EQ(meter.implausible(), 1u);
}

TEST_F(MeterTest, ProcessorTimeIsNoMoreThanTheSizeComesTo) {
  const auto sandbox = open({.milli_vcpu = 250, .memory_mib = 0, .disk_gib = 0});
  const auto busy_after = [&](Time::duration by, int64_t micros) {
    clock.advance(by);
    run(database->run([&](pqxx::work& tx) {
      meter.observe(tx, sandbox, {std::nullopt, micros, clock.now()});
    }));
    return meters()["active_cpu_second"];
  };
  EXPECT_EQ(busy_after(4s, 2'000'000), "1");
  EXPECT_EQ(busy_after(4s, 2'000'000), "2") << "a reading that came early";
  EXPECT_EQ(busy_after(40s, 42'000'000), "12") << "a whole processor was busy";
  EXPECT_EQ(busy_after(400s, 42'000'000), "17") << "no more than five seconds wait";
  EXPECT_EQ(meter.implausible(), 0u);
}

TEST_F(MeterTest, PartitionsAreMadeAheadAndTakeOverWhatWaited) {
  clock.set("2031-03-15T00:00:00Z");
  const auto sandbox = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  clock.advance(60s);
  close(sandbox);
  EXPECT_EQ(rows("SELECT count(*) FROM usage_event_default"), std::vector<std::string>{"2"});
  EXPECT_EQ(rows("SELECT create_usage_partition('2031-03-01')"), std::vector<std::string>{"t"});
  EXPECT_EQ(rows("SELECT create_usage_partition('2031-03-01')"), std::vector<std::string>{"f"});
  EXPECT_EQ(rows("SELECT count(*) FROM usage_event_default"), std::vector<std::string>{"0"});
  EXPECT_EQ(rows("SELECT count(*) FROM usage_event_2031_03"), std::vector<std::string>{"2"});
  EXPECT_EQ(meters()["vcpu_second"], "60");
  EXPECT_THROW(
      run(database->run([&](pqxx::work& tx) { tx.exec("DELETE FROM usage_event_2031_03"); })),
      Error);
}

TEST_F(MeterTest, AReadersClockThatIsAheadLosesNothing) {
  const auto sandbox = open({});
  const auto read = [&](int64_t micros, Time::duration ahead) {
    clock.advance(10s);
    SandboxMetrics metrics;
    metrics.cpu_micros = micros;
    metrics.sampled_at = clock.now() + ahead;
    const auto totals = measured_of(metrics, clock.now());
    run(database->run([&](pqxx::work& tx) { meter.observe(tx, sandbox, totals); }));
    return meters()["active_cpu_second"];
  };
  EXPECT_EQ(read(1'000'000, 1h), "1");
  EXPECT_EQ(read(2'000'000, -1s), "2") << "it was set right";
}

TEST_F(MeterTest, UnpricedProvidersHaveNoHourlyCostAndShippedOnesDo) {
  run(seed_prices(*database));
  run(seed_prices(*database));
  run(books.load());
  EXPECT_EQ(run(books.get("shipped")).size(), 1u);
  const auto hourly = books.snapshot()->cost_per_hour(
      {"", "local", "local", "local"}, {.milli_vcpu = 1000, .memory_mib = 1024, .disk_gib = 1},
      clock.now());
  EXPECT_EQ(hourly.value(), (Money{test::dec("0.045468"), "USD"}));
  EXPECT_FALSE(books.snapshot()->cost_per_hour({"", "nobody", "x", "y"}, {}, clock.now()));
}

}  // namespace
}  // namespace sandgate
