#pragma once
#include "billing/budgets/budget_store.hpp"
#include "billing/prices/price_rows.hpp"
#include "gateway/sandboxes/budget_guard.hpp"
#include "gateway/sandboxes/upkeep/budget_enforcer.hpp"
#include "tests/sandboxes/world.hpp"

namespace sandgate::test {

inline constexpr const char* kPrices = R"({"kind":"cost","currency":"USD",
  "effective_from":"2026-01-01T00:00:00Z",
  "entries":[{"provider":"*","meter":"vcpu_second","unit_price":"0.001"}]})";

// A replica that holds tenants to budgets, on the world's database and backends.
struct PayingReplica : Replica {
  explicit PayingReplica(World& world, const std::string& list = kPrices,
                         const std::string& machine = "")
      : Replica(world.database.url(), world.fixed(machine), std::chrono::seconds(120)) {
    set_prices("list", list);
  }
  ~PayingReplica() { pool.join(); }

  // Without the check that prices begin in the future.
  void set_prices(const std::string& book, const std::string& json) {
    const PriceVersion version = price_version_from(parse_json(json), book);
    run(database.run([&](pqxx::work& tx) { insert_price_version(tx, version); }));
    run(prices.load());
  }
  void put(const TenantId& tenant, const std::string& json, const std::string& name = "main") {
    run(rows.put(budget_from(parse_json(json), tenant, name)));
  }
  void put(const TenantId& tenant, const std::string& amount, OnExceeded on_exceeded) {
    put(tenant, R"({"amount":")" + amount + R"(","currency":"USD","window":"total",
      "on_exceeded":")" +
                    std::string(to_string(on_exceeded)) + R"("})");
  }

  Budgets budgets{prices};
  BudgetStore rows{database, budgets};
  BudgetGuard guard{budgets, clock};
  Lifecycle lifecycle{parts(guard)};  // instead of the one that asks for no money
};

// One round, and all that it starts.
inline size_t enforce(BudgetEnforcer& enforcer) {
  const size_t count = run(enforcer.begin());
  run(enforcer.drain());
  return count;
}

// One vCPU for ten minutes: 0.6.
inline CreateOrder small_order(const World& world) {
  return world.order([](Profile& profile) {
    profile.resources.milli_vcpu = 1000;
    profile.ttl_seconds = 600;
    profile.limits.max_ttl_seconds = 7200;
  });
}

}  // namespace sandgate::test
