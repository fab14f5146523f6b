#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "billing/invoices/credits.hpp"
#include "billing/ledger/ledger.hpp"
#include "tests/billing/budget_fixture.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate {
namespace {

using test::dec;
using namespace std::chrono_literals;
using test::run;

class BudgetRoundsTest : public test::BudgetFixture {
 protected:
  // `which`: a clause that selects reservations, or "".
  void end_all(const std::string& which) {
    for (const std::string& id : rows("SELECT sandbox FROM reservation " + which))
      end(SandboxId{id});
  }
};

TEST_F(BudgetRoundsTest, CountingALongPastKeepsNobodyFromBooking) {
  for (int i = 0; i < 8; ++i) {
    const auto id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0}, {{"run", "42"}});
    clock.advance(100s);
    close(id);
  }
  // 16 events at 0.2 s each are longer than anybody waits who books.
  run(database->run([](pqxx::work& tx) {
    tx.exec(R"(CREATE OR REPLACE FUNCTION budget_subject(profile text, key text, metadata jsonb)
      RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
        PERFORM pg_sleep(0.2);
        RETURN jsonb_build_object('profile', profile, 'key', key, 'metadata', metadata);
      END $$)");
  }));
  std::thread putting([&] {
    put(R"({"amount":"2","currency":"USD","window":"total","applies_to":{"metadata":{"run":"42"}}})");
  });
  EXPECT_TRUE(test::eventually([&] {
    return !rows(
                "SELECT FROM pg_stat_activity"
                " WHERE wait_event = 'PgSleep' AND datname = current_database()")
                .empty();
  }));
  EXPECT_NO_THROW(open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0}));
  putting.join();
  EXPECT_EQ(budget().spent, dec("0.8"));
}

TEST_F(BudgetRoundsTest, CountsThePastByDaysOrByEventsAlike) {
  const auto id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0}, {{"run", "42"}});
  clock.advance(13h);
  close(id);
  const auto spent = [&](const std::string& applies_to) {
    return put(R"({"amount":"100","currency":"USD","window":"total")" + applies_to + "}").spent;
  };
  EXPECT_EQ(spent(""), dec("46.8"));
  EXPECT_EQ(spent(R"(,"applies_to":{"profile":"python"})"), dec("46.8"));
  EXPECT_EQ(spent(R"(,"applies_to":{"metadata":{"run":"42"}})"), dec("46.8"));
  EXPECT_EQ(spent(R"(,"applies_to":{"profile":"other"})"), dec("0"));
}

TEST_F(BudgetRoundsTest, CreditsOfTheMomentInWhichABudgetIsSetCountOnce) {
  pqxx::connection other(database.url());
  pqxx::work giving(other);
  const Money credits{dec("20"), "USD"};
  post(giving, make_transfer(credits, "trial", tenant, std::string(kPrepaid), credits_of(tenant)));
  credit_budgets(giving, tenant, credits);
  auto putting = std::async(std::launch::async, [&] {
    return put(R"({"amount":"1","currency":"USD","window":"total"})");
  });
  putting.wait_for(200ms);
  giving.commit();
  EXPECT_EQ(putting.get().credits, credits.amount);
  EXPECT_EQ(budget().credits, credits.amount);
}

TEST_F(BudgetRoundsTest, AfterCreditsThresholdsAreToldAgain) {
  const auto told = [&] {
    return rows("SELECT type, data ->> 'spent' FROM budget_event ORDER BY id");
  };
  const auto use = [&](std::chrono::seconds time) {
    clock.advance(time);
    run(meter.flush(*database, 0s));
  };
  put(R"({"amount":"0","currency":"USD","window":"total","alert_at":[50]})");
  std::vector<std::string> all{"budget.alert|0", "budget.exceeded|0"};
  EXPECT_EQ(told(), all) << "nothing may be spent yet";
  open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  run(store.add_credits(tenant, {dec("0.1"), "USD"}, "prepaid"));
  use(60s);
  all.push_back("budget.alert|0.06");
  EXPECT_EQ(told(), all);
  use(60s);
  all.push_back("budget.exceeded|0.12");
  EXPECT_EQ(told(), all);
  run(store.add_credits(tenant, {dec("0.12"), "USD"}, "more"));
  use(120s);
  all.push_back("budget.exceeded|0.24");
  EXPECT_EQ(told(), all) << "half of it was spent before";
}

TEST_F(BudgetRoundsTest, WhatEndedHoldsNothing) {
  put(R"({"amount":"3","currency":"USD","window":"total"})");
  const SandboxId one = start(), other = start();
  close(one);
  EXPECT_EQ(budget().reserved, dec("1.2"));
  run(budgets.renew(*database));
  EXPECT_EQ(budget().reserved, dec("0.6"));
  EXPECT_EQ(rows("SELECT sandbox FROM reservation"), std::vector{other.value});
}

// Its end saw no budget, and its usage is booked a moment later.
TEST_F(BudgetRoundsTest, WhatEndedAsTheBudgetWasSetHoldsNoMoreThanItUsed) {
  const auto id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  clock.advance(50s);
  EXPECT_EQ(put(R"({"amount":"0.7","currency":"USD","window":"total"})").reserved.to_string(),
            "0.7");
  rows("UPDATE metered_sandbox SET state = 'closed', closed_as = 'running', unbooked_end = '" +
       to_rfc3339(clock.now()) + "' RETURNING 1");
  EXPECT_TRUE(reserve(SandboxId::make(), 660s)) << "more than there is without what it used";
  EXPECT_FALSE(reserve(SandboxId::make(), 600s));
  EXPECT_EQ(budget().reserved.to_string(), "0.65");
  EXPECT_EQ(rows("SELECT trim_scale(held) FROM reservation WHERE sandbox = '" + id.value + "'"),
            std::vector<std::string>{"0.05"});
  run(meter.book_ends(*database));
  EXPECT_EQ(budget().spent.to_string(), "0.05");
  EXPECT_EQ(budget().reserved.to_string(), "0.6");
}

TEST_F(BudgetRoundsTest, WhatRanWithoutABudgetIsHeldForOnce) {
  const std::string twenty = R"({"amount":"20","currency":"USD","window":"total"})";
  put(twenty);
  start(10h);
  const auto count = [&] { return rows("SELECT count(*) FROM reservation").at(0); };
  EXPECT_EQ(count(), "1");
  run(store.remove(tenant, "main"));
  EXPECT_EQ(count(), "0");
  clock.advance(2h);
  run(meter.flush(*database));
  run(budgets.renew(*database));
  EXPECT_EQ(count(), "0");
  const Budget set = put(twenty);
  EXPECT_EQ(set.spent, dec("7.2"));
  EXPECT_EQ(set.reserved, dec("3.6"));
}

TEST_F(BudgetRoundsTest, ATenantThatCannotBeLookedAfterHoldsUpNobodyElse) {
  put(R"({"amount":"3","currency":"USD","window":"total"})");
  close(start());
  pqxx::connection other(database.url());
  pqxx::work holding(other);
  holding.exec("SELECT FROM budget FOR UPDATE");
  tenant = TenantId::make();
  rows("INSERT INTO tenant (id, name) VALUES ('" + tenant.value + "', 'other')");
  put(R"({"amount":"3","currency":"USD","window":"total"})");
  close(start());
  EXPECT_EQ(budget().reserved, dec("0.6"));
  EXPECT_NO_THROW(run(budgets.renew(*database)));
  EXPECT_EQ(budget().reserved, dec("0"));
  // Whoever was waited for no longer goes on once it has the lock, and reads the clock.
  holding.abort();
  EXPECT_TRUE(test::eventually([&] { return database->in_flight() == 0; }));
}

TEST_F(BudgetRoundsTest, ManyThatMayFinishHideNoneThatHasToStop) {
  const std::string limit = R"({"amount":"0","currency":"USD","window":"total","on_exceeded":")";
  put(limit + R"(deny","applies_to":{"profile":"many"}})", "many");
  put(limit + R"(kill","applies_to":{"profile":"few"}})", "few");
  const auto insert = [&](const char* profile, int count, const char* covered_until) {
    run(database->run([&](pqxx::work& tx) {
      tx.exec_params(
          "INSERT INTO reservation (sandbox, tenant, currency, charge_per_hour, held,"
          " covered_until, ends_at, subject) SELECT 'sb' || $2 || i, $1, 'USD', 1, 0,"
          " $4::timestamptz, '2027-01-01', jsonb_build_object('profile', $2::text)"
          " FROM generate_series(1, $3::int) AS i",
          tenant.value, profile, count, covered_until);
    }));
  };
  insert("many", 1000, "2026-11-20T11:00:00Z");
  insert("few", 1, "2026-11-20T11:59:00Z");
  const auto halts = run(budgets.renew(*database));
  ASSERT_EQ(halts.size(), 1u);
  EXPECT_EQ(halts[0].sandbox.value, "sbfew1");
}

TEST_F(BudgetRoundsTest, MoneyThatIsAddedOrFreedIsForWhatRunsFirst) {
  for (const bool added : {false, true}) {
    put(R"({"amount":"3","currency":"USD","window":"total"})");
    for (int i = 0; i < 5; ++i) start();
    put(R"({"amount":"1","currency":"USD","window":"total"})");
    EXPECT_EQ(budget().reserved, dec("1"));
    if (added)
      run(store.add_credits(tenant, {dec("2"), "USD"}, "more"));
    else
      end_all("ORDER BY sandbox LIMIT 3");
    EXPECT_GE(budget().remaining(), dec("0.6")) << "before it is set aside";
    EXPECT_TRUE(reserve(SandboxId::make()));
    EXPECT_TRUE(run(budgets.renew(*database)).empty());
    // One may be covered for over five minutes, and not to its end.
    EXPECT_LE(budget().remaining(), dec("0.2"));
    end_all("");
    EXPECT_FALSE(reserve(SandboxId::make())) << "the control: nothing runs that needs it";
    run(database->run([&](pqxx::work& tx) { tx.exec("DELETE FROM reservation"); }));
    run(store.remove(tenant, "main"));
  }
}

TEST_F(BudgetRoundsTest, SetsMoreAsideAtThePriceOfThatMoment) {
  put(R"({"amount":"100","currency":"USD","window":"total","on_exceeded":"deny"})");
  start(10h);
  EXPECT_EQ(budget().reserved, dec("3.6"));
  insert_version("list", "2026-11-20T12:30:00Z", R"({"kind":"cost","currency":"USD",
    "effective_from":"2026-11-20T12:30:00Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.002"}]})");
  clock.advance(28min);
  run(meter.flush(*database));
  clock.advance(14min);  // twelve of them at the new price
  run(meter.flush(*database));
  EXPECT_EQ(budget().spent, dec("3.24"));
  clock.advance(90s);
  run(budgets.renew(*database));
  EXPECT_EQ(budget().reserved, dec("0.36") + dec("7.2")) << "an hour of now";
}

TEST_F(BudgetRoundsTest, WhatWasFreeIsHeldToThePriceItGets) {
  put(R"({"amount":"3","currency":"USD","window":"total","on_exceeded":"kill"})");
  const auto id = open({.milli_vcpu = 0, .memory_mib = 0, .disk_gib = 1});
  EXPECT_FALSE(reserve(id, 10h, "0"));
  insert_version("disks", "2026-11-20T12:10:00Z", R"({"kind":"cost","currency":"USD",
    "effective_from":"2026-11-20T12:10:00Z",
    "entries":[{"provider":"acme","meter":"disk_gib_second","unit_price":"0.001"}]})");
  clock.advance(11min);
  run(meter.flush(*database));
  EXPECT_TRUE(run(budgets.renew(*database)).empty());
  EXPECT_EQ(budget().spent, dec("0.06"));
  EXPECT_EQ(budget().reserved, dec("2.94")) << "what is left";
  clock.advance(49min);
  run(meter.flush(*database));
  const auto halts = run(budgets.renew(*database));
  ASSERT_EQ(halts.size(), 1u);
  EXPECT_EQ(halts[0].action, OnExceeded::kill);
}

TEST_F(BudgetRoundsTest, WhatIsChargedInAnotherCurrencyRunsOnlyAsLongAsIsSetAside) {
  put(R"({"amount":"100","currency":"USD","window":"total","on_exceeded":"kill"})");
  const auto id = start(10h);
  // One second of it is a larger number than all that is set aside.
  insert_version("yen", "2026-11-20T12:30:00Z", R"({"kind":"charge","currency":"JPY",
    "effective_from":"2026-11-20T12:30:00Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"5"}]})");
  clock.advance(56min);
  run(meter.flush(*database));
  EXPECT_EQ(budget().spent, dec("1.8")) << "half an hour, and nothing since";
  EXPECT_EQ(budget().reserved, dec("0.24")) << "what four minutes would have cost";
  EXPECT_TRUE(run(budgets.renew(*database)).empty()) << "four minutes are left";
  clock.advance(3min);
  const auto halts = run(budgets.renew(*database));
  ASSERT_EQ(halts.size(), 1u);
  EXPECT_EQ(halts[0].sandbox, id);
  EXPECT_EQ(halts[0].action, OnExceeded::kill);
  put(R"({"amount":"100","currency":"USD","window":"total","on_exceeded":"deny"})");
  EXPECT_TRUE(run(budgets.renew(*database)).empty()) << "what runs may finish";
}

TEST_F(BudgetRoundsTest, WhatIsChargedInAnotherCurrencyDrawsOnNothing) {
  put(R"({"amount":"100","currency":"USD","window":"total","on_exceeded":"kill"})");
  open({.milli_vcpu = 1000, .memory_mib = 1024, .disk_gib = 0});
  run(budgets.renew(*database));
  EXPECT_EQ(budget().reserved, dec("3.6"));
  insert_version("yen", "2026-11-20T12:00:00Z", R"({"kind":"charge","currency":"JPY",
    "effective_from":"2026-11-20T12:00:00Z",
    "entries":[{"provider":"acme","meter":"memory_gib_second","unit_price":"5"}]})");
  clock.advance(10min);
  run(meter.flush(*database));
  EXPECT_EQ(budget().spent, dec("0.6"));
  EXPECT_EQ(budget().reserved, dec("3")) << "the rest of the hour is paid as before";
  EXPECT_TRUE(run(budgets.renew(*database)).empty());
}

TEST_F(BudgetRoundsTest, CoversThePausedForWhatTheyKeep) {
  publish("disks", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"acme","meter":"disk_gib_second","unit_price":"0.0001"}]})");
  const auto id = open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 1});
  change(id, MeterState::paused_disk, {.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 1});
  put(R"({"amount":"100","currency":"USD","window":"total","on_exceeded":"deny"})");
  run(budgets.renew(*database));
  EXPECT_EQ(budget().reserved, dec("0.36"));
}

TEST_F(BudgetRoundsTest, StopsWhatIsChargedForItsTrafficAlone) {
  publish("traffic", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"acme","meter":"egress_gib","unit_price":"1"}]})");
  put(R"({"amount":"2","currency":"USD","window":"total","on_exceeded":"kill"})");
  const auto id = open({.milli_vcpu = 0, .memory_mib = 0, .disk_gib = 1});
  EXPECT_FALSE(reserve(id, 10h, "0"));
  const auto send = [&](int64_t gib_in_all) {
    clock.advance(60s);
    run(database->run([&](pqxx::work& tx) {
      meter.observe(tx, id, {.egress_bytes = gib_in_all << 30, .sampled_at = clock.now()});
    }));
    return run(budgets.renew(*database)).size();
  };
  EXPECT_EQ(send(1), 0u);
  EXPECT_EQ(send(2), 1u) << "nothing is left";
  EXPECT_EQ(run(budgets.renew(*database)).size(), 1u) << "until it has stopped";
  put(R"({"amount":"3","currency":"USD","window":"total","on_exceeded":"kill"})");
  EXPECT_EQ(run(budgets.renew(*database)).size(), 0u);
}

TEST_F(BudgetRoundsTest, BytesLeaveAloneWhatIsSetAsideForTime) {
  publish("traffic", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"acme","meter":"egress_gib","unit_price":"1"}]})");
  put(R"({"amount":"1","currency":"USD","window":"total","on_exceeded":"kill"})");
  const auto id = start(240s);
  EXPECT_EQ(budget().reserved, dec("0.24"));
  const auto send = [&](int64_t half_gib_in_all) {
    clock.advance(60s);
    run(meter.flush(*database, 0s));
    run(database->run([&](pqxx::work& tx) {
      meter.observe(tx, id, {.egress_bytes = half_gib_in_all << 29, .sampled_at = clock.now()});
    }));
  };
  send(1);
  EXPECT_EQ(budget().spent, dec("0.56"));
  EXPECT_EQ(budget().reserved, dec("0.18")) << "the rest of its four minutes";
  EXPECT_TRUE(reserve(SandboxId::make(), 300s)) << "0.26 is left";
  EXPECT_FALSE(reserve(SandboxId::make(), 260s));
  EXPECT_TRUE(run(budgets.renew(*database)).empty());
  // What the budget has not got is its sender's time, and nobody else's.
  send(2);
  EXPECT_EQ(budget().spent, dec("1.12"));
  EXPECT_EQ(rows("SELECT trim_scale(held) FROM reservation ORDER BY held"),
            (std::vector<std::string>{"0", "0.26"}));
  const auto halts = run(budgets.renew(*database));
  ASSERT_EQ(halts.size(), 1u);
  EXPECT_EQ(halts[0].sandbox, id);
}

TEST_F(BudgetRoundsTest, OneTenantsTroubleIsNoOtherTenants) {
  const std::string limit = R"({"amount":"100","currency":"USD","window":"total"})";
  put(limit);
  start(10h);
  run(database->run([](pqxx::work& tx) { tx.exec("UPDATE reservation SET subject = '[]'"); }));
  tenant = TenantId::make();
  run(database->run([&](pqxx::work& tx) {
    tx.exec_params("INSERT INTO tenant (id, name) VALUES ($1, 'other')", tenant.value);
  }));
  put(limit);
  start(10h);
  clock.advance(59min);
  run(database->run([&](pqxx::work& tx) {
    tx.exec("UPDATE reservation SET covered_until = '2026-11-20T13:00:00Z'");
  }));
  EXPECT_NO_THROW(run(budgets.renew(*database)));
  EXPECT_EQ(budget().reserved, dec("7.2")) << "the other's is extended";
}

TEST_F(BudgetRoundsTest, EndsThePausedWhenWhatTheyKeepCannotBePaid) {
  publish("disks", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"acme","meter":"disk_gib_second","unit_price":"0.001"}]})");
  const Resources kept{.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 1};
  const SandboxId id = open(kept);
  put(R"({"amount":"0.5","currency":"USD","window":"total","on_exceeded":"pause"})");
  const auto action_after = [&](std::chrono::seconds passed) -> std::optional<OnExceeded> {
    clock.advance(passed);
    run(meter.flush(*database, 0s));
    const auto halts = run(budgets.renew(*database));
    return halts.empty() ? std::nullopt : std::optional(halts[0].action);
  };
  EXPECT_EQ(action_after(150s), std::nullopt);
  EXPECT_EQ(action_after(15s), OnExceeded::pause) << "85 seconds at 0.002 are left";
  run(database->run([&](pqxx::work& tx) {
    meter.change(tx, id, MeterState::paused_disk, kept);
    budgets.adjust(tx, {tenant, id, Money{dec("3.6"), "USD"}, 10h});
  }));
  EXPECT_EQ(action_after(60s), std::nullopt) << "what it keeps is paid";
  EXPECT_EQ(action_after(15s), std::nullopt);
  EXPECT_EQ(action_after(15s), OnExceeded::kill) << "80 seconds at 0.001 are left";
  clock.advance(75s);
  end(id);
  EXPECT_EQ(budget().spent, dec("0.495"));
}

}  // namespace
}  // namespace sandgate
