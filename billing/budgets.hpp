#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "billing/budget_rows.hpp"
#include "billing/price_books.hpp"
#include "billing/set_aside.hpp"

namespace sandgate {

// What a sandbox is going to be charged.
struct PlannedSpending {
  TenantId tenant;
  SandboxId sandbox;
  std::optional<Money> charge_per_hour;  // empty: no price known
  std::chrono::seconds ttl{0};  // from now
  BudgetSubject subject;  // for reserve
  std::optional<RunCharge> most;  // in that currency, of one that begins; empty: the rate alone
  std::set<std::string> other_currencies;  // it may be charged in, for reserve
};

// Whom to stop because the money ended.
struct Halt {
  TenantId tenant;
  SandboxId sandbox;
  OnExceeded action = OnExceeded::kill;  // never deny
  std::string budget;
  Time covered_until;  // there is money for it until then
};

// Keeps tenants within their budgets. A tenant without any spends freely. Money is set aside for
// the most that min(ttl, 1 h) may come to when a sandbox is created, for time again when less than
// five minutes are covered; usage it was set aside for draws on it as it is booked, and the end
// gives back the rest.
class Budgets {
 public:
  explicit Budgets(PriceBooks& books, const Clock* clock = nullptr)
      : books_(books), clock_(clock) {}

  // In the transaction that writes the intention. Throws Error(budget_exceeded) with details
  // {budget, amount, currency, spent, reserved, remaining, needed}, also for what may be charged in
  // another currency than a budget's. False: no budget holds for it.
  bool reserve(pqxx::work& tx, const PlannedSpending& planned);
  // When the rate or the end changed (placed, extended, paused, resumed): sets aside what is needed
  // now, or as much of it as there is. Never throws budget_exceeded.
  void adjust(pqxx::work& tx, const PlannedSpending& planned);
  // The same for more time than was set aside for, with what ran and is not booked yet: throws
  // Error(budget_exceeded), as reserve does, when there is not enough.
  void lengthen(pqxx::work& tx, const PlannedSpending& planned);
  // Ended, or never began: gives back what is left. Idempotent.
  void settle(pqxx::work& tx, const SandboxId& id);

  // For a job, at least every 30 seconds: sets more aside for sandboxes that run out of cover, also
  // for those that began before their tenant had a budget. Returns those that have to stop because
  // there is no more; they come again until they have.
  Task<std::vector<Halt>> extend(Database& database);

 private:
  // Before any row lock: those who keep bookings out take their locks in that order.
  PriceBooks::Held hold(pqxx::work& tx);

  // extend() for one tenant (budget_cover.cpp).
  std::vector<Halt> extend_tenant(pqxx::work& tx, const std::string& tenant);
  // Opens empty reservations for sandboxes that run without.
  static void adopt_uncovered(pqxx::work& tx, const std::string& tenant,
                              const PriceSnapshot& prices, Time at);

  PriceBooks& books_;
  const Clock* clock_;
};

}  // namespace sandgate
