#pragma once
#include <string>
#include <vector>

#include "billing/budget.hpp"
#include "billing/change_trail.hpp"
#include "gateway/core/database.hpp"

namespace sandgate {

inline constexpr const char* kBudgetsChannel = "budgets";  // told the tenant's id

// Budgets as the operator sets them. Each change tells its trail, and throws Error(not_found) for
// an unknown tenant.
class BudgetStore {
 public:
  explicit BudgetStore(Database& database) : database_(database) {}

  // Sets a budget, new or changed; at once, also when it is lower than what is already spent. Its
  // window counts what was booked before it existed. Money set aside that no longer fits is taken
  // back from the youngest sandboxes. Throws Error(invalid) for an unknown time zone.
  // Replicas are told on kBudgetsChannel, so that it is enforced now and not at the next round.
  Task<Budget> put(Budget budget, ChangeTrail trail = {});
  Task<std::vector<Budget>> list(TenantId tenant);  // by name, windows up to date
  // Throws Error(not_found).
  Task<void> remove(TenantId tenant, std::string name, ChangeTrail trail = {});

  // Prepaid money, which first pays what issued invoices leave to pay. Returns what is left of all
  // the tenant has. Throws Error(invalid) unless positive.
  Task<Money> add_credits(TenantId tenant, Money money, std::string reason, ChangeTrail trail = {});

 private:
  Database& database_;
};

}  // namespace sandgate
