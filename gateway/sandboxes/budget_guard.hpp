#pragma once
#include "billing/budgets/budgets.hpp"
#include "gateway/sandboxes/spend_guard.hpp"

namespace sandgate {

// SpendGuard over the tenants' budgets.
class BudgetGuard : public SpendGuard {
 public:
  BudgetGuard(Budgets& budgets, const Clock& clock) : budgets_(budgets), clock_(clock) {}

  bool reserve(pqxx::work& tx, const SandboxRecord& sandbox, const PlannedCharge& charge) override;
  void resume(pqxx::work& tx, const SandboxRecord& sandbox, const PlannedCharge& charge) override;
  void adjust(pqxx::work& tx, const SandboxRecord& sandbox,
              const std::optional<RunCharge>& max_charge) override;
  void extend(pqxx::work& tx, const SandboxRecord& sandbox) override;
  void release(pqxx::work& tx, const SandboxId& id, const Money& keep) override;

 private:
  static PlannedSpending planned(const SandboxRecord& sandbox, const PlannedCharge& charge);
  PlannedSpending from_now(const SandboxRecord& sandbox) const;

  Budgets& budgets_;
  const Clock& clock_;
};

}  // namespace sandgate
