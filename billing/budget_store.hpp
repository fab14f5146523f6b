#pragma once
#include <string>
#include <vector>

#include "billing/budget.hpp"
#include "gateway/core/database.hpp"

namespace sandgate {

// Budgets as the operator sets them.
class BudgetStore {
 public:
  explicit BudgetStore(Database& database) : database_(database) {}

  // Sets a budget, new or changed; at once, also when it is lower than what is already spent. Its
  // window counts what was booked before it existed. Money set aside that no longer fits is taken
  // back from the youngest sandboxes. Throws Error(invalid) for an unknown time zone.
  Task<Budget> put(Budget budget);
  Task<std::vector<Budget>> list(TenantId tenant);  // by name, windows up to date
  Task<void> remove(TenantId tenant, std::string name);  // idempotent

  // Prepaid money; returns the tenant's new balance. Throws Error(invalid) unless positive.
  Task<Money> add_credits(TenantId tenant, Money money, std::string reason);

 private:
  Database& database_;
};

}  // namespace sandgate
