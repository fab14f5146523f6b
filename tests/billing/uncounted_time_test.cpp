#include <gtest/gtest.h>

#include <functional>

#include "tests/billing/budget_fixture.hpp"

namespace sandgate {
namespace {

using test::dec;
using namespace std::chrono_literals;
using test::run;

// A vCPU is charged 0.36 an hour, and up to 3.6 more as far as it is busy.
class UncountedTimeTest : public test::BudgetFixture {
 protected:
  void SetUp() override {
    publish("list", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
      "entries":[{"provider":"acme","meter":"active_cpu_second","unit_price":"0.001"},
        {"provider":"acme","meter":"vcpu_second","unit_price":"0.0001"}]})");
  }

  // With the money of its first hour set aside, which is all there is.
  void begin() {
    put(R"({"amount":"3.96","currency":"USD","window":"total","on_exceeded":"kill"})");
    const MeteredSandbox sandbox{.id = SandboxId::make(),
                                 .tenant = tenant,
                                 .profile = "python",
                                 .deployment = "acme-1",
                                 .provider = "acme",
                                 .region = "eu",
                                 .resources = {.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0}};
    id = sandbox.id;
    begun = clock.now();
    EXPECT_FALSE(reserve(id, 24h, "3.96"));
    run(database->run([&](pqxx::work& tx) { meter.open(tx, sandbox); }));
  }
  std::chrono::seconds ran() const {
    return std::chrono::duration_cast<std::chrono::seconds>(clock.now() - begun);
  }
  void read(std::chrono::microseconds busy) {
    run(database->run([&](pqxx::work& tx) {
      meter.observe(tx, id, {{}, busy.count(), clock.now()});
    }));
  }
  void miss() {
    run(database->run([&](pqxx::work& tx) { meter.miss(tx, id); }));
  }
  // Goes on until its budget ends it, for a day at most; busy, and counted when `reads` says so.
  std::chrono::seconds until_ended(const std::function<bool(std::chrono::seconds)>& reads) {
    while (ran() < 24h) {
      clock.advance(15s);
      if (ran() % 60s == 0s) run(meter.flush(*database));
      if (ran() % 60s == 15s) reads(ran()) ? read(ran()) : miss();
      if (!run(budgets.renew(*database)).empty()) break;
    }
    return ran();
  }
  Decimal spent_at_the_end() {
    clock.advance(15s);
    run(database->run([&](pqxx::work& tx) {
      meter.close(tx, id, std::nullopt,
                  Meter::Measured{{}, std::chrono::microseconds(ran()).count(), clock.now()});
      budgets.settle(tx, id);
    }));
    return budget().spent;
  }
  std::chrono::seconds covered() {
    const std::string micros =
        rows("SELECT (extract(epoch FROM covered_until) * 1000000)::bigint FROM reservation").at(0);
    const Time until = Time(std::chrono::microseconds(std::stoll(micros)));
    return std::chrono::round<std::chrono::seconds>(until - begun);
  }

  SandboxId id;
  Time begun;
};

TEST_F(UncountedTimeTest, IsPaidForHoweverLongNobodyCouldReadTheCounters) {
  for (const auto silent : {0s, 70s, 300s, 1800s, 7200s}) {
    tenant = TenantId::make();
    run(database->run([&](pqxx::work& tx) {
      tx.exec_params("INSERT INTO tenant (id, name) VALUES ($1, 'test')", tenant.value);
    }));
    begin();
    const auto ended =
        until_ended([&](std::chrono::seconds after_begin) { return after_begin > silent; });
    EXPECT_GT(ended, 57min) << silent.count();
    EXPECT_LE(spent_at_the_end(), dec("3.96")) << silent.count();
  }
}

TEST_F(UncountedTimeTest, IsNoneOfABackendThatDoesNotCount) {
  begin();
  while (ran() < 3h) {
    clock.advance(60s);
    run(meter.flush(*database));
    EXPECT_TRUE(run(budgets.renew(*database)).empty()) << ran().count();
  }
  EXPECT_GT(covered(), 3h + 40min);
}

TEST_F(UncountedTimeTest, LeavesTheCoverWhereItIs) {
  begin();
  clock.advance(90s);
  run(meter.flush(*database));
  EXPECT_EQ(covered(), 1h);
  clock.advance(15s);
  read(105s);
  EXPECT_EQ(covered(), 1h) << "counted beyond what is booked";
  clock.advance(495s);
  run(meter.flush(*database));
  EXPECT_EQ(covered(), 1h);
  read(105s);
  clock.advance(90s);
  run(meter.flush(*database));
  EXPECT_EQ(covered(), 1h + 450s) << "495 seconds were idle";
}

// Its hour goes on from now, whatever was never counted.
TEST_F(UncountedTimeTest, OfABackendThatDoesNotCountIsNotSetAsideForLater) {
  begin();
  clock.advance(40min);
  run(meter.flush(*database));
  run(database->run([&](pqxx::work& tx) {
    budgets.adjust(tx, {tenant, id, Money{dec("3.96"), "USD"}, 10min});
  }));
  // Ten minutes, and the two that a first reading may take.
  EXPECT_EQ(budget().reserved, dec("0.78"));
}

}  // namespace
}  // namespace sandgate
