#pragma once
#include "billing/budgets/budget_store.hpp"
#include "billing/budgets/budgets.hpp"
#include "tests/billing/billing_fixture.hpp"

namespace sandgate::test {

// A tenant whose sandboxes of one vCPU are charged a thousandth a second.
class BudgetFixture : public BillingFixture {
 protected:
  void SetUp() override {
    // 3.6 an hour for one vCPU: a thousandth per second.
    publish("list", R"({"kind":"cost","currency":"USD","effective_from":"2026-01-01T00:00:00Z",
      "entries":[{"provider":"acme","meter":"vcpu_second","unit_price":"0.001"}]})");
  }

  Budget put(const std::string& json, const std::string& name = "main") {
    return run(store.put(budget_from(parse_json(json), tenant, name)));
  }
  Budget budget() { return run(store.list(tenant)).at(0); }

  std::optional<Error> reserve(const SandboxId& id,
                               std::chrono::seconds ttl = std::chrono::seconds(600),
                               const std::string& rate = "3.6") {
    try {
      run(database->run([&](pqxx::work& tx) {
        budgets.reserve(tx, {tenant, id, Money{dec(rate), "USD"}, ttl});
      }));
      return std::nullopt;
    } catch (const Error& error) {
      return error;
    }
  }

  void settle(const SandboxId& id) {
    run(database->run([&](pqxx::work& tx) { budgets.settle(tx, id); }));
  }

  // A sandbox with money set aside, running.
  SandboxId start(std::chrono::seconds ttl = std::chrono::seconds(600)) {
    const MeteredSandbox sandbox{.id = SandboxId::make(),
                                 .tenant = tenant,
                                 .profile = "python",
                                 .deployment = "acme-1",
                                 .provider = "acme",
                                 .region = "eu",
                                 .resources = {.milli_vcpu = 1000, .memory_mib = 0, .disk_gib = 0}};
    EXPECT_FALSE(reserve(sandbox.id, ttl));
    run(database->run([&](pqxx::work& tx) { meter.open(tx, sandbox); }));
    return sandbox.id;
  }

  void end(const SandboxId& id) {
    close(id);
    settle(id);
  }

  Budgets budgets{books, &clock};
  BudgetStore store{*database, budgets};
};

}  // namespace sandgate::test
