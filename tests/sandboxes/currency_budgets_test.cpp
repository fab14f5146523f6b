#include <gtest/gtest.h>

#include "tests/sandboxes/paying_replica.hpp"

namespace sandgate {
namespace {

using test::code_of;
using test::PayingReplica;
using test::run;
using test::small_order;

// Processors are free, in dollars.
constexpr const char* kFreeTime = R"({"kind":"cost","currency":"USD",
  "effective_from":"2026-01-01T00:00:00Z",
  "entries":[{"provider":"*","meter":"vcpu_second","unit_price":"0"}]})";

struct CurrencyBudgets : testing::Test {
  void charge_euros(const std::string& meter, const std::string& unit_price) {
    run(replica.prices.publish(price_version_from(
        parse_json(R"({"kind":"charge","currency":"EUR","effective_from":"2026-01-01T00:00:00Z",
          "entries":[{"provider":"*","meter":")" +
                   meter + R"(","unit_price":")" + unit_price + "\"}]}"),
        "euros")));
  }
  void set_budget(const std::string& currency) {
    replica.put(world.tenant, R"({"amount":"3","window":"total","currency":")" + currency + "\"}");
  }
  int count_admitted(int orders) {
    int admitted = 0;
    for (int i = 0; i < orders; ++i)
      admitted += code_of(replica.lifecycle.create(small_order(world))) ? 0 : 1;
    return admitted;
  }

  test::World world;
  PayingReplica replica{world, kFreeTime};
};

TEST_F(CurrencyBudgets, AFeeIsSetAsideThoughTimeIsFreeInAnotherCurrency) {
  charge_euros("sandbox_created", "1");
  set_budget("EUR");
  EXPECT_EQ(count_admitted(5), 3);
  EXPECT_EQ(world.sql("SELECT trim_scale(spent + reserved) FROM budget"), "3");
}

TEST_F(CurrencyBudgets, MemoryIsSetAsideThoughProcessorsAreFreeInAnotherCurrency) {
  charge_euros("memory_gib_second", "0.01");
  const SandboxRecord box = run(replica.lifecycle.create(small_order(world)));
  EXPECT_EQ(box.currency, "EUR");
  EXPECT_TRUE(box.other_currencies.empty());
  set_budget("USD");
  EXPECT_EQ(code_of(replica.lifecycle.create(small_order(world))), ErrorCode::budget_exceeded);
}

}  // namespace
}  // namespace sandgate
