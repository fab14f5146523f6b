#include <gtest/gtest.h>

#include <thread>

#include "tests/billing/budget_fixture.hpp"

namespace sandgate {
namespace {

using test::at;
using test::dec;
using namespace std::chrono_literals;
using test::run;

class BudgetTest : public test::BudgetFixture {};

TEST_F(BudgetTest, WithoutABudgetNothingIsSetAside) {
  EXPECT_FALSE(reserve(SandboxId::make()));
  EXPECT_EQ(rows("SELECT count(*) FROM reservation"), std::vector<std::string>{"0"});
}

TEST_F(BudgetTest, ReservesSpendsAndGivesBack) {
  put(R"({"amount":"1","currency":"USD","window":"total"})");
  const auto id = start();
  EXPECT_EQ(budget().reserved, dec("0.6"));
  clock.advance(100s);
  run(meter.flush(*database));
  EXPECT_EQ(budget().spent, dec("0.1"));
  EXPECT_EQ(budget().reserved, dec("0.5"));
  clock.advance(50s);
  end(id);
  settle(id);
  EXPECT_EQ(budget().spent, dec("0.15"));
  EXPECT_EQ(budget().reserved, dec("0"));
  EXPECT_EQ(budget().remaining(), dec("0.85"));
}

TEST_F(BudgetTest, DeniesWhatDoesNotFitAndSaysWhy) {
  put(R"({"amount":"1","currency":"USD","window":"total"})");
  EXPECT_FALSE(reserve(SandboxId::make()));
  const auto denied = reserve(SandboxId::make());
  ASSERT_TRUE(denied);
  EXPECT_EQ(denied->code, ErrorCode::budget_exceeded);
  EXPECT_EQ(denied->details["budget"], "main");
  EXPECT_EQ(denied->details["remaining"], "0.4");
  EXPECT_EQ(denied->details["needed"], "0.6");
  EXPECT_EQ(budget().reserved, dec("0.6"));
}

TEST_F(BudgetTest, AdmitsExactlyAsManyAsItPaysFor) {
  put(R"({"amount":"13.2","currency":"USD","window":"day","timezone":"UTC"})");  // 22 times 0.6
  std::atomic<int> admitted{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      Database own({.url = database.url(), .connections = 1, .patience = 60s});
      for (int i = 0; i < 250; ++i) {
        auto work = [&](pqxx::work& tx) {
          budgets.reserve(tx, {tenant, SandboxId::make(), Money{dec("3.6"), "USD"}, 600s});
        };
        if (std::holds_alternative<std::monostate>(run(attempt(own.run(work))))) ++admitted;
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(admitted, 22);
  EXPECT_EQ(budget().reserved, dec("13.2"));
}

TEST_F(BudgetTest, ExtendsWhatRunsAndStopsWhatCannotBePaid) {
  put(R"({"amount":"5","currency":"USD","window":"total","on_exceeded":"kill"})");
  const auto id = start(7200s);
  EXPECT_EQ(budget().reserved, dec("3.6"));
  EXPECT_TRUE(run(budgets.renew(*database)).empty());
  clock.advance(3400s);
  run(meter.flush(*database));
  EXPECT_TRUE(run(budgets.renew(*database)).empty());
  EXPECT_EQ(budget().remaining(), dec("0"));
  clock.advance(1000s);  // 4400 of the 5000 seconds that the money lasts
  run(meter.flush(*database));
  EXPECT_TRUE(run(budgets.renew(*database)).empty());
  clock.advance(520s);
  run(meter.flush(*database));
  const auto halts = run(budgets.renew(*database));
  ASSERT_EQ(halts.size(), 1u);
  EXPECT_EQ(halts[0].sandbox, id);
  EXPECT_EQ(halts[0].action, OnExceeded::kill);
  clock.advance(60s);
  end(id);
  EXPECT_LE(budget().spent, dec("5"));
  // What was booked when it ended, and what was set aside by then.
  EXPECT_EQ(
      rows("SELECT type, data ->> 'spent', (data ->> 'reserved')::numeric > 0 FROM budget_event"),
      std::vector<std::string>{"budget.exceeded|5|t"});
}

TEST_F(BudgetTest, CountsWhatRanBeforeItExistedAndCoversIt) {
  const auto id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  clock.advance(100s);
  run(meter.flush(*database));
  clock.set("2026-11-20T12:01:40Z");
  put(R"({"amount":"2","currency":"USD","window":"total","on_exceeded":"pause"})");
  EXPECT_EQ(budget().spent, dec("0.1"));
  EXPECT_TRUE(run(budgets.renew(*database)).empty());
  EXPECT_EQ(budget().reserved, dec("1.9"));
  put(R"({"amount":"0.05","currency":"USD","window":"total","on_exceeded":"pause"})");
  EXPECT_EQ(budget().reserved, dec("0"));
  const auto halts = run(budgets.renew(*database));
  ASSERT_EQ(halts.size(), 1u);
  EXPECT_EQ(halts[0].sandbox, id);
  EXPECT_EQ(halts[0].action, OnExceeded::pause);
}

TEST_F(BudgetTest, TellsEachThresholdOnce) {
  put(R"({"amount":"0.1","currency":"USD","window":"total","alert_at":[50,80]})");
  const auto id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  for (int i = 0; i < 6; ++i) {
    clock.advance(20s);
    run(meter.flush(*database, 0s));
  }
  close(id);
  EXPECT_EQ(
      rows("SELECT type, data ->> 'threshold' FROM budget_event ORDER BY id"),
      (std::vector<std::string>{"budget.alert|50", "budget.alert|80", "budget.exceeded|100"}));
}

TEST_F(BudgetTest, TellsOfWhatIsSpentByThoseItStopsAndOfWhatALowerAmountIsPassedBy) {
  const auto told = [&] {
    return rows(
        "SELECT type, data ->> 'threshold', data ->> 'amount' FROM budget_event"
        " ORDER BY id");
  };
  const auto spent = [&] {
    return rows(
        "SELECT data ->> 'spent', data ->> 'reserved' FROM budget_event"
        " WHERE type = 'budget.exceeded' ORDER BY id");
  };
  const auto id = start(600s);
  clock.advance(5s);
  const auto limit = [](const std::string& amount) {
    return R"({"amount":")" + amount +
           R"(","currency":"USD","window":"total","on_exceeded":"kill","alert_at":[50,100]})";
  };
  put(limit("0.001"));
  ASSERT_EQ(run(budgets.renew(*database)).size(), 1u);
  EXPECT_EQ(told(), std::vector<std::string>{"budget.exceeded|100|0.001"});
  EXPECT_EQ(spent(), std::vector<std::string>{"0.001|0.001"}) << "of which nothing is booked";
  end(id);
  EXPECT_EQ(budget().spent, dec("0.005"));
  const std::vector<std::string> first{"budget.exceeded|100|0.001", "budget.alert|50|0.001",
                                       "budget.alert|100|0.001"};
  EXPECT_EQ(told(), first);
  EXPECT_TRUE(run(budgets.renew(*database)).empty());
  put(limit("0.001"));
  EXPECT_EQ(told(), first) << "each once";
  put(limit("1"));
  EXPECT_EQ(told(), first);
  put(limit("0.008"));
  EXPECT_EQ(told().back(), "budget.alert|50|0.008");
  put(limit("0.002"));
  EXPECT_EQ(told().size(), 7u);
  EXPECT_EQ((std::vector<std::string>{told()[4], told()[5], told()[6]}),
            (std::vector<std::string>{"budget.alert|50|0.002", "budget.alert|100|0.002",
                                      "budget.exceeded|100|0.002"}));
  EXPECT_EQ(spent().back(), "0.005|0") << "all of it is booked";
}

TEST_F(BudgetTest, WindowsFollowTheTenantsCalendar) {
  const auto window = [&](const std::string& kind, const std::string& zone, const std::string& at) {
    return rows("SELECT budget_window_start('" + kind + "', '" + zone + "', '" + at +
                "'), budget_window_end('" + kind + "', '" + zone + "', '" + at + "')")
        .at(0);
  };
  // The day the clocks go forward has 23 hours, the one they go back 25.
  EXPECT_EQ(window("day", "Europe/Berlin", "2026-03-29T12:00:00Z"),
            "2026-03-28 23:00:00+00|2026-03-29 22:00:00+00");
  EXPECT_EQ(window("day", "Europe/Berlin", "2026-10-25T12:00:00Z"),
            "2026-10-24 22:00:00+00|2026-10-25 23:00:00+00");
  // Where clocks go back over midnight the day begins with the first of the two; where they go
  // forward over it, with the first moment that there is.
  EXPECT_EQ(window("day", "Atlantic/Azores", "2029-10-28T00:10:00Z"),
            "2029-10-28 00:00:00+00|2029-10-29 01:00:00+00");
  EXPECT_EQ(window("day", "Atlantic/Azores", "2029-10-27T23:59:00Z"),
            "2029-10-27 00:00:00+00|2029-10-28 00:00:00+00");
  EXPECT_EQ(window("month", "America/Havana", "2026-11-01T04:30:00Z"),
            "2026-11-01 04:00:00+00|2026-12-01 05:00:00+00");
  EXPECT_EQ(window("day", "America/Havana", "2026-03-08T12:00:00Z"),
            "2026-03-08 05:00:00+00|2026-03-09 04:00:00+00");
  EXPECT_EQ(window("week", "UTC", "2026-11-20T12:00:00Z"),
            "2026-11-16 00:00:00+00|2026-11-23 00:00:00+00");
  EXPECT_EQ(window("month", "Asia/Kathmandu", "2026-01-31T18:30:00Z"),
            "2026-01-31 18:15:00+00|2026-02-28 18:15:00+00");
  EXPECT_EQ(window("total", "UTC", "2026-11-20T12:00:00Z"), "1970-01-01 00:00:00+00|");
}

TEST_F(BudgetTest, ANewWindowStartsWithWhatIsBookedInIt) {
  put(R"({"amount":"10","currency":"USD","window":"day","timezone":"Asia/Kathmandu"})");
  clock.set(
      rows("SELECT to_char(window_end - interval '60 seconds', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')"
           " FROM budget")
          .at(0));
  open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  clock.advance(100s);
  run(meter.flush(*database, 0s));
  // 60 seconds belong to the day before, 40 to the new one.
  EXPECT_EQ(rows("SELECT trim_scale(spent) FROM budget"), std::vector<std::string>{"0.04"});
}

TEST_F(BudgetTest, IsReadWithoutItsLockAndInTheWindowOfNow) {
  put(R"({"amount":"10","currency":"USD","window":"day","alert_at":[50]})");
  const Time today = budget().window_start;
  pqxx::connection other(database.url());
  pqxx::work booking(other);
  booking.exec(
      "UPDATE budget SET window_start = window_start - interval '1 day',"
      " window_end = window_end - interval '1 day', spent = 7, reserved = 1");
  EXPECT_EQ(budget().spent, dec("0"));
  booking.commit();
  EXPECT_EQ(budget().spent, dec("0")) << "of today, although the row is yesterday's";
  EXPECT_EQ(budget().reserved, dec("1"));
  EXPECT_EQ(budget().window_start, today);
  EXPECT_EQ(rows("SELECT trim_scale(spent) FROM budget"), std::vector<std::string>{"7"});
}

TEST_F(BudgetTest, WhatTurnsOutToBeFreeGivesBackInEachCurrency) {
  put(R"({"amount":"10","currency":"USD","window":"total"})");
  const SandboxId id = start(1h);
  EXPECT_EQ(rows("SELECT trim_scale(held) FROM reservation"), std::vector<std::string>{"3.6"});
  run(database->run([&](pqxx::work& tx) {
    budgets.adjust(tx, {tenant, id, Money{dec("0"), "EUR"}, 1h});
  }));
  EXPECT_EQ(rows("SELECT trim_scale(held) FROM reservation"), std::vector<std::string>{"0"});
  EXPECT_EQ(budget().reserved, dec("0"));
}

TEST_F(BudgetTest, WhatIsFreeIsSoInEachCurrency) {
  put(R"({"amount":"10","currency":"EUR","window":"total"})");
  EXPECT_FALSE(reserve(SandboxId::make(), 1h, "0"));
  put(R"({"amount":"10","currency":"GBP","window":"total"})", "other");
  EXPECT_FALSE(reserve(SandboxId::make(), 1h, "0"));
  EXPECT_TRUE(reserve(SandboxId::make(), 1h, "0.1"));
  EXPECT_EQ(rows("SELECT currency FROM reservation"), (std::vector<std::string>{"EUR", "EUR"}));
}

TEST_F(BudgetTest, WhatIsFreeNeedsNoneOfIt) {
  put(R"({"amount":"0","currency":"USD","window":"total"})");
  EXPECT_FALSE(reserve(SandboxId::make(), 1h, "0"));
  EXPECT_TRUE(reserve(SandboxId::make(), 1h, "0.1"));
  // Its bytes may be charged, as those of `other_currencies` of what is otherwise free.
  const auto sending = run(attempt(database->run([&](pqxx::work& tx) {
    budgets.reserve(
        tx,
        {.tenant = tenant, .sandbox = SandboxId::make(), .ttl = 1h, .other_currencies = {"USD"}});
  })));
  EXPECT_TRUE(std::holds_alternative<Error>(sending));
  put(R"({"amount":"1","currency":"USD","window":"total"})");
  start();
  put(R"({"amount":"0","currency":"USD","window":"total"})");
  EXPECT_FALSE(reserve(SandboxId::make(), 1h, "0")) << "whatever is set aside beyond it";
}

TEST_F(BudgetTest, CreditsArePrepaidMoneyOfATotalBudget) {
  put(R"({"amount":"0","currency":"USD","window":"total"})");
  EXPECT_TRUE(reserve(SandboxId::make()));
  EXPECT_EQ(run(store.add_credits(tenant, {dec("0.6"), "USD"}, "trial")).amount, dec("0.6"));
  EXPECT_FALSE(reserve(SandboxId::make()));
  EXPECT_TRUE(reserve(SandboxId::make()));
}

TEST_F(BudgetTest, HoldsForWhatItAppliesTo) {
  put(R"({"amount":"1","currency":"USD","window":"total","applies_to":{"profile":"python"}})", "p");
  put(R"({"amount":"1","currency":"USD","window":"total",
    "applies_to":{"metadata":{"run":"42"}}})",
      "m");
  put(R"({"amount":"9","currency":"USD","window":"total"})", "all");
  const auto reserve_as = [&](const BudgetSubject& subject) {
    PlannedSpending planned{tenant, SandboxId::make(), Money{dec("3.6"), "USD"}, 600s, subject};
    return std::holds_alternative<std::monostate>(
        run(attempt(database->run([&](pqxx::work& tx) { budgets.reserve(tx, planned); }))));
  };
  EXPECT_TRUE(reserve_as({.profile = "python", .metadata = {{"run", "41"}}}));
  EXPECT_FALSE(reserve_as({.profile = "python"})) << "0.4 of p is left";
  EXPECT_TRUE(reserve_as({.profile = "node", .metadata = {{"run", "42"}}}));
  EXPECT_FALSE(reserve_as({.profile = "node", .metadata = {{"run", "42"}, {"x", "y"}}}));
  EXPECT_TRUE(reserve_as({.profile = "node"}));
  EXPECT_EQ(rows("SELECT name, trim_scale(reserved) FROM budget ORDER BY name"),
            (std::vector<std::string>{"all|1.8", "m|0.6", "p|0.6"}));
  // Counters of a budget that is set anew are worked out from what it applies to.
  put(R"({"amount":"7","currency":"USD","window":"total","applies_to":{"profile":"node"}})", "p");
  EXPECT_EQ(rows("SELECT trim_scale(reserved) FROM budget WHERE name = 'p'"),
            std::vector<std::string>{"1.2"});
}

TEST_F(BudgetTest, CountsSpendingOfWhatItAppliesToOnly) {
  put(R"({"amount":"9","currency":"USD","window":"total","applies_to":{"metadata":{"run":"1"}}})");
  open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0}, {{"run", "1"}});
  open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0}, {{"run", "2"}});
  clock.advance(100s);
  run(meter.flush(*database));
  EXPECT_EQ(budget().spent, dec("0.1"));
  put(R"({"amount":"9","currency":"USD","window":"total","applies_to":{"profile":"python"}})");
  EXPECT_EQ(budget().spent, dec("0.2"));
}

TEST_F(BudgetTest, LongerTimeNeedsMoreMoney) {
  put(R"({"amount":"1","currency":"USD","window":"total"})");
  const auto id = start();
  const auto extend_reservation = [&](std::chrono::seconds ttl) {
    return run(attempt(database->run([&](pqxx::work& tx) {
      budgets.extend_reservation(tx, {tenant, id, Money{dec("3.6"), "USD"}, ttl});
    })));
  };
  EXPECT_TRUE(std::holds_alternative<std::monostate>(extend_reservation(900s)));
  EXPECT_EQ(budget().reserved, dec("0.9"));
  const auto refused = extend_reservation(1100s);
  ASSERT_TRUE(std::holds_alternative<Error>(refused));
  EXPECT_EQ(std::get<Error>(refused).code, ErrorCode::budget_exceeded);
  EXPECT_EQ(budget().reserved, dec("0.9"));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(extend_reservation(100s)));
  EXPECT_EQ(budget().reserved, dec("0.1"));
}

TEST_F(BudgetTest, RefusesNonsenseAndSaysWhere) {
  const auto path_of = [&](const std::string& json) -> std::string {
    try {
      put(json);
      return "accepted";
    } catch (const Error& error) {
      return error.fields.empty() ? error.what() : error.fields[0].path;
    }
  };
  const std::string rest = R"(,"currency":"USD","window":"day","timezone":"UTC"})";
  EXPECT_EQ(path_of(R"({"amount":"-1")" + rest), "/amount");
  EXPECT_EQ(path_of(R"({"amount":1)" + rest), "/amount");
  EXPECT_EQ(path_of(R"({"amount":"1e3")" + rest), "/amount");
  EXPECT_EQ(path_of(R"({"amount":"1000000000001")" + rest), "/amount");
  EXPECT_EQ(path_of(R"({"amount":"1","alert_at":[0])" + rest), "/alert_at/0");
  EXPECT_EQ(path_of(R"({"amount":"1","alert_at":"50")" + rest), "/alert_at");
  EXPECT_EQ(path_of(R"({"amount":"1","spare":1)" + rest), "/spare");
  EXPECT_EQ(path_of(R"({"amount":"1.0000000000000000001")" + rest), "/amount");
  EXPECT_EQ(path_of(R"({"amount":"1","applies_to":{})" + rest), "/applies_to");
  EXPECT_EQ(path_of(R"({"amount":"1","applies_to":{"metadata":{}})" + rest),
            "/applies_to/metadata");
  EXPECT_EQ(path_of(R"({"amount":"1","applies_to":{"profile":null})" + rest), "/applies_to");
  EXPECT_EQ(path_of(R"({"amount":"1","applies_to":{"metadata":{"a":null}})" + rest),
            "/applies_to/metadata");
  EXPECT_EQ(path_of(R"({"amount":"1","applies_to":{"metadata":{"a\u0000":"b"}})" + rest),
            std::string("/applies_to/metadata/a\0", 23));
  EXPECT_EQ(path_of(R"({"amount":"1")" + rest), "accepted");
  EXPECT_FALSE(to_json(budget()).contains("applies_to")) << "as it was set";
  EXPECT_EQ(path_of(R"({"amount":"1","applies_to":{"key":"x"})" + rest), "/applies_to/key");
  EXPECT_EQ(path_of(R"({"amount":"1","currency":"XTS","window":"total"})"), "/currency");
  EXPECT_EQ(path_of(R"({"amount":"1","currency":"USD","window":"year","timezone":"UTC"})"),
            "/window");
  for (const std::string zone : {"Mars/Olympus", "localtime", "posix/UTC", "right/UTC"})
    EXPECT_EQ(
        path_of(R"({"amount":"1","currency":"USD","window":"day","timezone":")" + zone + "\"}"),
        "/timezone")
        << zone;
}

TEST_F(BudgetTest, AWindowWithoutATimeZoneIsOneOfUtc) {
  put(R"({"amount":"1","currency":"USD","window":"day","on_exceeded":"deny"})");
  EXPECT_EQ(budget().timezone, "UTC");
  EXPECT_EQ(rows("SELECT window_start = date_trunc('day', window_start) FROM budget"),
            std::vector<std::string>{"t"});
}

TEST_F(BudgetTest, UnknownTenantHasNone) {
  const TenantId nobody = TenantId::make();
  const Budget budget = budget_from(
      parse_json(R"({"amount":"1","currency":"USD","window":"total"})"), nobody, "main");
  EXPECT_THROW(run(store.put(budget)), Error);
  EXPECT_THROW(run(store.list(nobody)), Error);
  EXPECT_THROW(run(store.add_credits(nobody, {dec("1"), "USD"}, "trial")), Error);
}

}  // namespace
}  // namespace sandgate
