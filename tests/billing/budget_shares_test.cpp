#include "billing/budgets/budget_shares.hpp"

#include "tests/billing/budget_fixture.hpp"

namespace sandgate::test {
namespace {

using namespace std::chrono_literals;
using Amounts = std::vector<std::string>;

const Time kNoon = at("2026-11-20T12:00:00Z");

Amounts texts(const std::vector<Decimal>& amounts) {
  Amounts texts;
  for (const Decimal& amount : amounts) texts.push_back(amount.to_string());
  return texts;
}

Budget budget_of(const std::string& amount, std::optional<std::string> profile = {}) {
  return {.tenant = "t",
          .amount = dec(amount),
          .currency = "USD",
          .applies_to = {.profile = std::move(profile)}};
}

Reservation held(const std::string& per_hour, const std::string& amount, Time until,
                 const std::string& profile = "p") {
  return {.tenant = "t",
          .currency = "USD",
          .charge_per_hour = dec(per_hour),
          .held = dec(amount),
          .covered_until = until,
          .subject = {.profile = profile}};
}

// To be covered until one o'clock, at the reservation's rate.
Claim claim_for(const Reservation& reservation) {
  return {.reservation = &reservation,
          .from = reservation.covered_until,
          .until = kNoon + 1h,
          .cost = [&](Time to) {
            return estimate(reservation.charge_per_hour, to - reservation.covered_until);
          }};
}

Amounts shares(const std::vector<Budget>& budgets, const std::vector<Reservation>& reservations) {
  std::vector<Claim> claims;
  for (const Reservation& one : reservations) claims.push_back(claim_for(one));
  return texts(fair_shares(budgets, claims));
}

TEST(BudgetShares, AreAllThatIsWantedWhereItSuffices) {
  const std::vector both{held("3.6", "0", kNoon), held("7.2", "0", kNoon + 30min)};
  EXPECT_EQ(shares({budget_of("7.2")}, both), (Amounts{"3.6", "3.6"}));
  EXPECT_EQ(shares({}, both), (Amounts{"3.6", "3.6"})) << "nothing limits them";
}

TEST(BudgetShares, LastToOneMoment) {
  const std::vector both{held("3.6", "0", kNoon), held("7.2", "0", kNoon)};
  EXPECT_EQ(shares({budget_of("0.9")}, both), (Amounts{"0.3", "0.6"}));
  EXPECT_EQ(shares({budget_of("0")}, both), (Amounts{"0", "0"}));
  const std::vector uneven{held("3.6", "0", kNoon), held("3.6", "0", kNoon + 2min),
                           held("3.6", "0", kNoon + 10min)};
  EXPECT_EQ(shares({budget_of("0.3")}, uneven), (Amounts{"0.21", "0.09", "0"}));
  EXPECT_EQ(shares({budget_of("0.1")}, uneven), (Amounts{"0.1", "0", "0"}));
}

TEST(BudgetShares, AreNeverMoreThanABudgetHas) {
  const std::vector three(3, held("3.6", "0", kNoon));
  const auto parts = fair_shares({budget_of("1")},
                                 {claim_for(three[0]), claim_for(three[1]), claim_for(three[2])});
  const Decimal sum = parts[0] + parts[1] + parts[2];
  EXPECT_LE(sum, dec("1"));
  EXPECT_GT(sum, dec("0.99999999"));
}

TEST(BudgetShares, OfWhatOneBudgetCannotPayAreForTheOthers) {
  const std::vector three{held("3.6", "0", kNoon, "p"), held("3.6", "0", kNoon, "p"),
                          held("3.6", "0", kNoon, "q")};
  EXPECT_EQ(shares({budget_of("1"), budget_of("0.2", "p")}, three), (Amounts{"0.1", "0.1", "0.8"}));
  EXPECT_EQ(shares({budget_of("1"), budget_of("0", "p")}, three), (Amounts{"0", "0", "1"}));
  EXPECT_EQ(shares({budget_of("0.3"), budget_of("1", "p")}, three), (Amounts{"0.1", "0.1", "0.1"}));
}

TEST(BudgetCuts, LeaveAllCoveredToOneMoment) {
  const std::vector three{held("3.6", "3.6", kNoon + 1h), held("7.2", "7.2", kNoon + 1h),
                          held("3.6", "0.1", kNoon + 100s)};
  EXPECT_EQ(texts(fair_cuts(three, dec("9"), kNoon)), (Amounts{"3", "6", "0"}));
  EXPECT_EQ(texts(fair_cuts(three, dec("10.7"), kNoon)), (Amounts{"3.55", "7.1", "0.05"}));
  EXPECT_EQ(texts(fair_cuts(three, dec("99"), kNoon)), (Amounts{"3.6", "7.2", "0.1"}));
  EXPECT_EQ(texts(fair_cuts(three, dec("9"), kNoon + 30min)), (Amounts{"1.8", "3.6", "0"}));
}

TEST(BudgetCuts, AreExact) {
  const std::vector three(3, held("3.6", "3.6", kNoon + 1h));
  const auto parts = fair_cuts(three, dec("1"), kNoon);
  EXPECT_EQ(parts[0] + parts[1] + parts[2], dec("1"));
}

class SharedBudgetTest : public BudgetFixture {
 protected:
  static std::string limit(const std::string& amount) {
    return R"({"amount":")" + amount +
           R"(","currency":"USD","window":"total","on_exceeded":"pause"})";
  }
  Amounts held_each() { return rows("SELECT trim_scale(held) FROM reservation ORDER BY held"); }
};

TEST_F(SharedBudgetTest, WhatRunsSharesALoweredOne) {
  put(limit("100"));
  start(1h);
  start(1h);
  start(200s);
  clock.advance(10s);
  EXPECT_EQ(put(limit("1.2")).reserved, dec("1.2"));
  EXPECT_EQ(held_each(), (Amounts{"0.2", "0.5", "0.5"}));
  EXPECT_TRUE(run(budgets.renew(*database)).empty()) << "eight minutes are left";
}

TEST_F(SharedBudgetTest, WhatRunsSharesAFirstOne) {
  open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  open({.milli_vcpu = 2000, .memory_mib = 0, .disk_gib = 0});
  clock.advance(10s);
  EXPECT_EQ(put(limit("0.9")).reserved, dec("0.9"));
  EXPECT_EQ(held_each(), (Amounts{"0.3", "0.6"}));
  run(meter.flush(*database, 0s));
  EXPECT_EQ(budget().spent, dec("0.03"));
  EXPECT_EQ(budget().reserved, dec("0.87")) << "what it ran before was paid from it";
  EXPECT_TRUE(run(budgets.renew(*database)).empty()) << "290 seconds are left";
}

TEST_F(SharedBudgetTest, AFirstOneIsReservedForWhatIsNotBookedYet) {
  open({.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0});
  clock.advance(50s);
  EXPECT_EQ(put(limit("100")).reserved, dec("3.65")) << "and an hour";
  EXPECT_EQ(rows("SELECT covered_until = '2026-11-20T13:00:50Z' FROM reservation"), Amounts{"t"});
}

TEST_F(SharedBudgetTest, WhatRunsOutTogetherSharesTheRest) {
  put(limit("7.4"));
  start(10h);
  start(10h);
  clock.advance(3400s);
  run(meter.flush(*database));
  EXPECT_TRUE(run(budgets.renew(*database)).empty());
  EXPECT_EQ(held_each(), (Amounts{"0.3", "0.3"}));
}

// The money of one lets the others run on.
TEST_F(SharedBudgetTest, NoMoreAreStoppedThanNeeded) {
  put(limit("100"));
  for (int i = 0; i < 3; ++i) start(1h);
  put(limit("0.3"));
  const auto after = [&](std::chrono::seconds passed) {
    clock.advance(passed);
    run(meter.flush(*database, 0s));
    return run(budgets.renew(*database));
  };
  EXPECT_TRUE(after(5s).empty()) << "95 seconds are left";
  const auto first = after(15s);
  ASSERT_EQ(first.size(), 1u);
  const auto again = run(budgets.renew(*database));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].sandbox, first[0].sandbox) << "until it has stopped";
  end(first[0].sandbox);
  EXPECT_TRUE(after(15s).empty());
  EXPECT_EQ(held_each(), (Amounts{"0.105", "0.105"}));
  EXPECT_EQ(budget().spent + budget().reserved, dec("0.3"));
}

TEST_F(SharedBudgetTest, AllAreStoppedThatHaveLessThanAMinute) {
  put(limit("100"));
  for (int i = 0; i < 3; ++i) start(1h);
  put(limit("0.15"));
  EXPECT_EQ(run(budgets.renew(*database)).size(), 3u) << "50 seconds are left";
}

TEST_F(SharedBudgetTest, WhatPausedOnesKeepIsPaidBeforeTimeToRun) {
  publish("disks", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"acme","meter":"disk_gib_second","unit_price":"0.001"}]})");
  const Resources size{.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 1};
  open(size);
  change(open(size), MeterState::paused_disk, size);
  EXPECT_EQ(put(limit("4")).reserved, dec("4"));
  EXPECT_EQ(held_each(), (Amounts{"0.4", "3.6"})) << "an hour of a disk";
  put(limit("3.7"));
  EXPECT_EQ(held_each(), (Amounts{"0.1", "3.6"}));
  put(limit("3"));
  EXPECT_EQ(held_each(), (Amounts{"0", "3"}));
  EXPECT_EQ(budget().reserved, dec("3"));
}

}  // namespace
}  // namespace sandgate::test
