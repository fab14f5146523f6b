#include <gtest/gtest.h>

#include "billing/prices/rating.hpp"
#include "billing/prices/run_cost.hpp"
#include "tests/billing/budget_fixture.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate {
namespace {

using test::code_of;
using test::dec;
using namespace std::chrono_literals;
using test::run;

// A vCPU second is a thousandth; what else is said of it differs by provider.
struct Terms {
  const char *entry, *most;
  std::chrono::seconds ttl;
};
constexpr Terms kTerms[] = {
    {R"("unit_price":"0.001")", "0.6", 600s},
    {R"("unit_price":"0.001","minimum":"1000")", "1", 600s},
    {R"("unit_price":"0.001","minimum":"1000")", "1.5", 1500s},
    {R"("unit_price":"0.001","rounding":"60")", "0.6", 600s},
    {R"("unit_price":"0.001","rounding":"60")", "0.66", 610s},
    {R"("unit_price":"0.001","rounding":"60","included":"30")", "0.57", 600s},
    {R"("unit_price":"0.001","included":"30")", "0.57", 600s},
    {R"("unit_price":"0.001","included":"900")", "0", 600s},
    {R"("unit_price":"0.001","minimum":"60","rounding":"60")", "0.6", 600s},
    {R"("unit_price":"0.001","minimum":"1000"},
      {"provider":"$","meter":"sandbox_created","unit_price":"0.07")",
     "1.07", 1s},
};

class ReservationEstimateTest : public test::BudgetFixture {
 protected:
  static constexpr Resources kOne{.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0};

  // Publishes the terms as those of a provider of its own.
  std::string provider_with(const std::string& entry) {
    const std::string name = "p" + std::to_string(++providers_);
    publish_for(name, "2026-01-01T00:00:00Z", entry);
    return name;
  }
  void publish_for(const std::string& name, const std::string& from, std::string entry) {
    if (const size_t at = entry.find('$'); at != std::string::npos) entry.replace(at, 1, name);
    insert_version("of-" + name, from,
                   R"({"kind":"charge","currency":"USD","effective_from":")" + from +
                       R"(","entries":[{"provider":")" + name + R"(","meter":"vcpu_second",)" +
                       entry + "}]}");
    run(books.load());
  }
  PriceScope scope_of(const std::string& provider) const {
    return {tenant.value, provider, "there", "eu"};
  }

  // As a create does it.
  SandboxId start_at(const std::string& provider, std::chrono::seconds ttl) {
    const auto& prices = *books.snapshot();
    const MeteredSandbox sandbox{.id = SandboxId::make(),
                                 .tenant = tenant,
                                 .profile = "python",
                                 .deployment = "there",
                                 .provider = provider,
                                 .region = "eu",
                                 .resources = kOne};
    PlannedSpending planned{tenant, sandbox.id,
                            charge_per_hour(prices, scope_of(provider), kOne, clock.now()), ttl};
    planned.max_charge =
        estimate_new_run(prices, scope_of(provider), kOne, clock.now(), 120s, ttl, "USD");
    run(database->run([&](pqxx::work& tx) {
      budgets.reserve(tx, planned);
      budgets.adjust(tx, planned);
      meter.open(tx, sandbox);
    }));
    return sandbox.id;
  }

  void extend(const SandboxId& id, const std::string& provider, std::chrono::seconds ttl) {
    const auto rate = charge_per_hour(*books.snapshot(), scope_of(provider), kOne, clock.now());
    run(database->run([&](pqxx::work& tx) {
      budgets.extend_reservation(tx, {tenant, id, rate, ttl});
    }));
  }

  // A round of what jobs do every minute.
  size_t halts_after(std::chrono::seconds passed) {
    clock.advance(passed);
    run(meter.flush(*database, 0s));
    return run(budgets.renew(*database)).size();
  }

 private:
  int providers_ = 0;
};

TEST_F(ReservationEstimateTest, IsWhatTheWholeRunComesToAndPaysForAllOfIt) {
  for (const Terms& terms : kTerms) {
    SCOPED_TRACE(std::string(terms.entry) + " for " + std::to_string(terms.ttl.count()) + " s");
    const Decimal before = rows("SELECT FROM budget").empty() ? Decimal() : budget().spent;
    const Decimal all = before + dec(terms.most);
    const std::string provider = provider_with(terms.entry);
    // With nothing to spare, but where nothing at all would be left.
    const Decimal amount = all.is_zero() ? dec("0.001") : std::max(all, before + dec("0.001"));
    put(R"({"amount":")" + amount.to_string() +
        R"(","currency":"USD","window":"total","on_exceeded":"kill"})");
    const auto expected =
        charge_of_run(*books.snapshot(), scope_of(provider), kOne, clock.now(), terms.ttl);
    const SandboxId id = start_at(provider, terms.ttl);
    EXPECT_EQ(budget().reserved, dec(terms.most));
    EXPECT_EQ(budget().reserved, expected->amount) << "as a decision expects it";
    for (auto left = terms.ttl; left > 0s; left -= 60s) {
      EXPECT_EQ(halts_after(std::min(left, std::chrono::seconds(60))), 0u);
      EXPECT_EQ(budget().spent + budget().reserved, all) << left.count() << " s before its end";
    }
    end(id);
    EXPECT_EQ(budget().spent, all);
    EXPECT_EQ(budget().reserved, dec("0"));
  }
}

// However much of it is booked by then, and extended again or not.
TEST_F(ReservationEstimateTest, OfOneThatIsExtendedIsWhatTheRestComesTo) {
  for (const bool booked : {false, true})
    for (const Terms& terms : kTerms) {
      SCOPED_TRACE(std::string(terms.entry) + (booked ? " booked" : ""));
      const Decimal before = rows("SELECT FROM budget").empty() ? Decimal() : budget().spent;
      const std::string provider = provider_with(terms.entry);
      const auto whole =
          charge_of_run(*books.snapshot(), scope_of(provider), kOne, clock.now(), 75s + terms.ttl);
      const Decimal all = before + whole->amount;
      const Decimal amount = std::max(all, before + dec("0.001"));
      put(R"({"amount":")" + amount.to_string() +
          R"(","currency":"USD","window":"total","on_exceeded":"kill"})");
      const SandboxId id = start_at(provider, terms.ttl);
      clock.advance(75s);
      if (booked) run(meter.flush(*database, 0s));
      for (int again = 0; again < 2; ++again) {
        extend(id, provider, terms.ttl);
        EXPECT_EQ(budget().spent + budget().reserved, all);
      }
      const auto refused = code_of([&] { extend(id, provider, terms.ttl + 3600s); });
      EXPECT_EQ(refused, ErrorCode::budget_exceeded);
      for (auto left = terms.ttl; left > 0s; left -= 60s) {
        EXPECT_EQ(halts_after(std::min(left, std::chrono::seconds(60))), 0u);
        EXPECT_EQ(budget().spent + budget().reserved, all) << left.count() << " s before its end";
      }
      end(id);
      EXPECT_EQ(budget().spent, all);
      EXPECT_EQ(budget().reserved, dec("0"));
    }
}

TEST_F(ReservationEstimateTest, PaysForProcessorsWhateverTheirCounterSays) {
  const std::string provider = provider_with(
      R"("unit_price":"0"},{"provider":"$","meter":"active_cpu_second","unit_price":"0.01")");
  put(R"({"amount":"6","currency":"USD","window":"total","on_exceeded":"kill"})");
  const SandboxId id = start_at(provider, 600s);
  EXPECT_EQ(budget().reserved, dec("6"));
  for (int64_t minute = 1; minute <= 10; ++minute) {
    clock.advance(60s);
    run(database->run([&](pqxx::work& tx) {
      meter.observe(tx, id, {std::nullopt, minute * 64'000'000, clock.now()});
    }));
    EXPECT_EQ(budget().spent + budget().reserved, dec("6")) << minute;
  }
  end(id);
  EXPECT_EQ(budget().spent, dec("6"));
  EXPECT_EQ(budget().reserved, dec("0"));
}

TEST_F(ReservationEstimateTest, OfOneThatMayRunOnIsAStepOfItsRoundingMore) {
  put(R"({"amount":"7.29","currency":"USD","window":"total","on_exceeded":"kill"})");
  const SandboxId id = start_at(provider_with(R"("unit_price":"0.001","rounding":"60")"), 7230s);
  EXPECT_EQ(budget().reserved, dec("3.66"));
  for (int minute = 0; minute < 120; ++minute) EXPECT_EQ(halts_after(60s), 0u) << minute;
  EXPECT_EQ(budget().spent + budget().reserved, dec("7.29"));
  halts_after(30s);
  end(id);
  EXPECT_EQ(budget().spent, dec("7.26")) << "a started minute is a whole one";
}

TEST_F(ReservationEstimateTest, FollowsThePricesThatArePublished) {
  const std::string provider = provider_with(R"("unit_price":"0.001","included":"300")");
  const auto most = [&](const std::string& of) {
    return estimate_new_run(*books.snapshot(), scope_of(of), kOne, clock.now(), 120s, 600s, "USD")
        .charge;
  };
  EXPECT_EQ(most(provider), dec("0.3"));
  publish_for(provider, "2026-11-20T12:05:00Z", R"("unit_price":"0.01")");
  EXPECT_EQ(most(provider), dec("3")) << "of the second half nothing is included";
  const std::string falls = provider_with(R"("unit_price":"0.001")");
  publish_for(falls, "2026-11-20T12:05:00Z", R"("unit_price":"0.0001")");
  EXPECT_EQ(most(falls), dec("0.6")) << "a fall takes nothing off";
  const std::string at_once = provider_with(R"("unit_price":"0.001","minimum":"1000")");
  publish_for(at_once, "2026-11-20T12:05:00Z", R"("unit_price":"0.01","minimum":"1000")");
  EXPECT_EQ(most(at_once), dec("1")) << "the minimum is charged at the price it begins at";
  publish_for(at_once, "2026-11-20T12:01:00Z", R"("unit_price":"0.003","minimum":"1000")");
  EXPECT_EQ(most(at_once), dec("3")) << "or by then has";
}

TEST_F(ReservationEstimateTest, IsThereWhenAPublishedRiseComes) {
  const std::string provider = provider_with(R"("unit_price":"0.001")");
  publish_for(provider, "2026-11-20T12:05:00Z", R"("unit_price":"0.01")");
  put(R"({"amount":"3.3","currency":"USD","window":"total","on_exceeded":"kill"})");
  const SandboxId id = start_at(provider, 600s);
  EXPECT_EQ(budget().reserved, dec("3.3"));
  for (int minute = 0; minute < 10; ++minute) EXPECT_EQ(halts_after(60s), 0u) << minute;
  end(id);
  EXPECT_EQ(budget().spent, dec("3.3"));
  EXPECT_EQ(budget().reserved, dec("0"));
}

// Two creates would otherwise write the same sandbox's reservation at once.
TEST_F(ReservationEstimateTest, HoldsNothingForATenantWithoutBudgets) {
  start();
  const PlannedSpending unpriced{tenant, SandboxId::make(), std::nullopt, 600s};
  const auto count = run(database->run([&](pqxx::work& tx) {
    EXPECT_FALSE(budgets.reserve(tx, unpriced));
    return tx.exec1("SELECT count(*) FROM reservation")[0].as<int>();
  }));
  EXPECT_EQ(count, 0);
}

TEST_F(ReservationEstimateTest, ReachesIntoARiseThatIsPublishedLater) {
  const std::string provider = provider_with(R"("unit_price":"0.001")");
  put(R"({"amount":"0.7","currency":"USD","window":"total","on_exceeded":"kill"})");
  const SandboxId id = start_at(provider, 600s);
  publish_for(provider, "2026-11-20T12:00:05Z", R"("unit_price":"0.1")");
  const auto halts = run(budgets.renew(*database));
  ASSERT_EQ(halts.size(), 1u) << "it is to end before the rise has used the money up";
  EXPECT_EQ(halts[0].action, OnExceeded::kill);
  EXPECT_EQ(to_rfc3339(halts[0].covered_until), "2026-11-20T12:00:11.950000Z");
  clock.advance(10s);
  end(id);
  EXPECT_EQ(budget().spent, dec("0.505"));
}

TEST_F(ReservationEstimateTest, KeepsToARiseHoweverOftenIsBookedBeforeIt) {
  const std::string provider = provider_with(R"("unit_price":"0.001")");
  put(R"({"amount":"3.7","currency":"USD","window":"total","on_exceeded":"kill"})");
  const SandboxId id = start_at(provider, 36000s);
  publish_for(provider, "2026-11-20T12:20:00Z", R"("unit_price":"0.01")");
  for (int minute = 1; minute <= 20; ++minute) EXPECT_EQ(halts_after(60s), 0u) << minute;
  int quarters = 0;
  while (quarters < 20 && halts_after(15s) == 0) ++quarters;
  EXPECT_EQ(quarters, 10) << "90 of the 250 seconds before the end of the money";
  clock.advance(75s);
  end(id);
  EXPECT_GT(budget().spent, dec("3.4"));
  EXPECT_LE(budget().spent, dec("3.7"));
}

TEST_F(ReservationEstimateTest, OfARiseIsThereBeforeWhatBeginsLater) {
  const std::string provider = provider_with(R"("unit_price":"0.001")");
  put(R"({"amount":"61","currency":"USD","window":"total","on_exceeded":"kill"})");
  const SandboxId id = start_at(provider, 600s);
  publish_for(provider, "2026-11-20T12:00:05Z", R"("unit_price":"0.1","rounding":"7")");
  EXPECT_TRUE(reserve(SandboxId::make(), 6000s)) << "of the 60 are needed for what runs";
  EXPECT_FALSE(reserve(SandboxId::make(), 60s));
  for (int minute = 0; minute < 10; ++minute) EXPECT_EQ(halts_after(60s), 0u) << minute;
  end(id);
  EXPECT_LE(budget().spent + budget().reserved, dec("61"));
}

TEST_F(ReservationEstimateTest, OfAFallLastsAsLongAsItPaysFor) {
  const std::string provider = provider_with(R"("unit_price":"0.01")");
  put(R"({"amount":"36","currency":"USD","window":"total","on_exceeded":"kill"})");
  const SandboxId id = start_at(provider, 36000s);
  publish_for(provider, "2026-11-20T12:30:00Z", R"("unit_price":"0.001")");
  for (int part = 1; part <= 75; ++part) EXPECT_EQ(halts_after(240s), 0u) << part;
  end(id);
  EXPECT_EQ(budget().spent, dec("34.2"));
}

}  // namespace
}  // namespace sandgate
