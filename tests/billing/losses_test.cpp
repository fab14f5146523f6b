#include "billing/ledger/losses.hpp"

#include "billing/ledger/ledger.hpp"
#include "billing/ledger/reconciliation.hpp"
#include "tests/billing/billing_fixture.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;
using test::run;

const Resources kSize{.milli_vcpu = 2000, .memory_mib = 1024, .disk_gib = 4};

class LossesTest : public test::BillingFixture {
 protected:
  LossesTest() {
    publish("list", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
      "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.01"},
                 {"provider":"acme","meter":"disk_gib_second","unit_price":"0.001"},
                 {"provider":"acme","meter":"sandbox_created","unit_price":"0.5"}]})");
    publish("sell", R"({"kind":"charge","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
      "markup_percent":"100"})");
  }
  void late_end(const SandboxId& id, std::optional<Time> gone_at = std::nullopt) {
    run(database->run([&](pqxx::work& tx) { losses.book_late_end(tx, id, "box-1", gone_at); }));
  }
  Orphan orphan() const {
    return {.id = SandboxId{"sb" + std::string(24, 'z')},
            .backend_id = "box-z",
            .deployment = "acme-1",
            .provider = "acme",
            .region = "eu",
            .resources = kSize,
            .since = clock.now()};
  }
  void note(const Orphan& orphan) {
    run(database->run([&](pqxx::work& tx) { Losses::record_orphan(tx, orphan); }));
  }
  void end(const Orphan& orphan) {
    run(database->run(
        [&](pqxx::work& tx) { losses.end(tx, orphan.deployment, "", orphan.backend_id); }));
  }
  std::string balance(const std::string& account) {
    return run(database->run(
        [&](pqxx::work& tx) { return credit_balance(tx, account, "USD").to_string(); }));
  }
  std::string lost(const std::string& meter) {
    return rows("SELECT coalesce(trim_scale(sum(quantity)), 0) FROM loss_event WHERE meter = '" +
                meter + "'")[0];
  }

  Losses losses{books, &clock};
};

TEST_F(LossesTest, WhatEndsLateCostsItsVendorButNotItsTenant) {
  const auto id = open(kSize);
  clock.advance(100s);
  close(id);
  const std::string owed = balance(receivable_of(tenant)),
                    payable = balance("vendor/acme-1/payable");
  EXPECT_EQ(payable, "2.9");  // 0.5 + 100 x (2 x 0.01 + 4 x 0.001)
  clock.advance(1000s);  // over a quarter of an hour: two intervals of each meter
  late_end(id);
  EXPECT_EQ(lost("vcpu_second"), "2000");
  EXPECT_EQ(lost("disk_gib_second"), "4000");
  EXPECT_EQ(lost("sandbox_created"), "0");
  EXPECT_EQ(balance("loss"), "-24");
  EXPECT_EQ(balance("vendor/acme-1/payable"), "26.9");
  EXPECT_EQ(balance(receivable_of(tenant)), owed);
  EXPECT_EQ(rows("SELECT count(*) FROM loss_event WHERE date_bin('15 minutes', interval_start,"
                 " 'epoch') <> date_bin('15 minutes', interval_end - interval '1 us', 'epoch')"),
            std::vector<std::string>{"0"});
  late_end(id);
  EXPECT_EQ(balance("loss"), "-24") << "the same again is the same";
  EXPECT_EQ(losses.booked(), 1u);
}

TEST_F(LossesTest, EndsWhenTheBackendEndedItAndInTheStateItWasIn) {
  const auto id = open(kSize);
  change(id, MeterState::paused_disk, kSize);
  clock.advance(100s);
  close(id);
  const Time gone = clock.now() + 50s;
  clock.advance(1000s);
  late_end(id, gone);
  EXPECT_EQ(lost("vcpu_second"), "0");
  EXPECT_EQ(lost("disk_gib_second"), "200");
}

TEST_F(LossesTest, MinimumsThatTheTenantPaidAreNotOwedAgain) {
  insert_version("list", "2026-11-01T00:00:00Z",
                 R"({"kind":"cost","currency":"USD","effective_from":"2026-11-01T00:00:00Z",
    "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.01","minimum":"300"}]})");
  const auto id = open(kSize);
  clock.advance(100s);
  close(id);
  clock.advance(100s);
  late_end(id);
  EXPECT_EQ(lost("vcpu_second"), "200");
  EXPECT_EQ(balance("loss"), "-1") << "of 400 in all, 300 were paid for";
}

TEST_F(LossesTest, OneThatNobodyWasToldOfIsALossFromItsCreateOn) {
  const auto id = open(kSize);
  clock.advance(100s);
  close(id, Meter::kNeverBegan);
  EXPECT_TRUE(meters().empty());
  clock.advance(100s);
  for (int again = 0; again < 2; ++again) late_end(id, clock.now() - 100s);
  EXPECT_EQ(lost("vcpu_second"), "200");
  EXPECT_EQ(lost("sandbox_created"), "1");
  EXPECT_EQ(balance("loss"), "-2.9");
  EXPECT_EQ(balance(receivable_of(tenant)), "0");
}

TEST_F(LossesTest, OneThatRunsOrWasNeverMeteredLosesNothing) {
  const auto id = open(kSize);
  clock.advance(100s);
  late_end(id);
  late_end(SandboxId::make());
  EXPECT_EQ(rows("SELECT count(*) FROM loss_event"), std::vector<std::string>{"0"});
}

TEST_F(LossesTest, AnOrphanCostsFromItsBeginningToItsEndOnce) {
  const Orphan one = orphan();
  note(one);
  note(one);
  clock.advance(100s);
  end(one);
  clock.advance(100s);
  end(one);
  EXPECT_EQ(lost("sandbox_created"), "1");
  EXPECT_EQ(lost("vcpu_second"), "200");
  EXPECT_EQ(balance("loss"), "-2.9");
  EXPECT_EQ(balance("vendor/acme-1/payable"), "2.9");
  note(one);  // it was there again, or still
  end(one);
  EXPECT_EQ(lost("sandbox_created"), "1");
  EXPECT_EQ(lost("vcpu_second"), "400");
  EXPECT_EQ(rows("SELECT count(*) FROM usage_event"), std::vector<std::string>{"0"});
}

TEST_F(LossesTest, OneThatWasTheRegistrysGoesOnWhereItsTenantStopped) {
  const auto id = open(kSize);
  clock.advance(100s);
  close(id);
  Orphan still = orphan();
  still.id = id;
  still.since = clock.now() - 100s;
  still.placed = true;
  clock.advance(10s);
  note(still);
  end(still);
  EXPECT_EQ(lost("vcpu_second"), "20");
  EXPECT_EQ(lost("sandbox_created"), "0");
}

TEST_F(LossesTest, AreOursInAReconciliation) {
  const auto id = open(kSize);
  clock.advance(100s);
  close(id);
  clock.advance(100s);
  late_end(id);
  const auto report = vendor_report_from(parse_json(
      R"({"deployment":"acme-1","period":"2026-11","lines":[
          {"meter":"vcpu_second","quantity":"400","amount":"4"},
          {"meter":"disk_gib_second","quantity":"800","amount":"0.8"},
          {"meter":"sandbox_created","quantity":"1","amount":"0.5"}]})"));
  const Json answer = run(reconcile(*database, report));
  EXPECT_EQ(answer["total"]["difference"], "0");
  EXPECT_EQ(answer["total"]["loss"], "2.4");
}

TEST_F(LossesTest, AReconciliationAddsUpOneCurrency) {
  publish("yen", R"({"kind":"cost","currency":"JPY","effective_from":"2026-01-01T00:00:00Z",
    "entries":[{"provider":"acme","deployment":"acme-1","meter":"disk_gib_second",
                "unit_price":"2"}]})");
  const auto id = open(kSize);
  clock.advance(100s);
  close(id);
  const auto asked = [&](const std::string& currency) {
    const std::string text = R"({"deployment":"acme-1","period":"2026-11",)" + currency +
                             R"("lines":[{"meter":"vcpu_second","quantity":"200","amount":"2"}]})";
    return run(reconcile(*database, vendor_report_from(parse_json(text))));
  };
  const Json dollars = asked(""), yen = asked(R"("currency":"JPY",)");
  EXPECT_EQ(dollars["currency"], "USD");
  EXPECT_EQ(dollars["total"]["ours"], "2.5");
  EXPECT_EQ(dollars["other_currencies"], Json::array({"JPY"}));
  EXPECT_EQ(yen["currency"], "JPY");
  EXPECT_EQ(yen["total"]["ours"], "800");
  EXPECT_EQ(yen["other_currencies"], Json::array({"USD"}));
  EXPECT_THROW(asked(R"("currency":"QQQ",)"), Error);
}

}  // namespace
}  // namespace sandgate
