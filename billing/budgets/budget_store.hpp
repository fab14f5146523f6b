#pragma once
#include <string>
#include <vector>

#include "billing/budgets/budget.hpp"
#include "billing/budgets/budgets.hpp"
#include "billing/change_trail.hpp"
#include "gateway/core/database.hpp"

namespace sandgate {

// Sets, lists and removes budgets in PostgreSQL. Every function throws Error(not_found) for an
// unknown tenant; every change calls its `trail`.
class BudgetStore {
 public:
  BudgetStore(Database& database, Budgets& budgets) : database_(database), budgets_(budgets) {}

  // Creates or replaces a budget, effective at once even when it is lower than what is spent. Usage
  // booked earlier in its window counts, and money is set aside for what runs. Reservations that no
  // longer fit are reduced, those that last longest first, down to one moment for all; what paused
  // sandboxes keep only when no time to run is left. Throws Error(invalid) for an unknown time
  // zone. kBudgetsChannel tells the replicas, so that enforcement does not wait for the next round.
  Task<Budget> put(Budget budget, ChangeTrail trail = {});
  // By name, windows up to date. Waits for no booking and holds none up.
  Task<std::vector<Budget>> list(TenantId tenant);
  // Throws Error(not_found).
  Task<void> remove(TenantId tenant, std::string name, ChangeTrail trail = {});

  // Adds prepaid money, which first pays what is due on issued invoices. Returns the tenant's
  // remaining credits in that currency. Throws Error(invalid) unless the amount is positive.
  Task<Money> add_credits(TenantId tenant, Money money, std::string reason, ChangeTrail trail = {});

 private:
  Database& database_;
  Budgets& budgets_;
};

}  // namespace sandgate
