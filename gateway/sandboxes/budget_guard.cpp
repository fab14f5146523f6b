#include "gateway/sandboxes/budget_guard.hpp"

namespace sandgate {

PlannedSpending BudgetGuard::planned(const SandboxRecord& sandbox, const PlannedCharge& charge) {
  return {.tenant = sandbox.tenant,
          .sandbox = sandbox.id,
          .charge_per_hour = charge.per_hour,
          .ttl = std::chrono::seconds(sandbox.ttl_seconds),
          .subject = {sandbox.profile, sandbox.key, sandbox.metadata},
          .max_charge = charge.max_charge,
          .other_currencies = charge.other_currencies,
          .is_crowded = charge.is_crowded,
          .generation = charge.generation};
}

bool BudgetGuard::reserve(pqxx::work& tx, const SandboxRecord& sandbox,
                          const PlannedCharge& charge) {
  return budgets_.reserve(tx, planned(sandbox, charge));
}

void BudgetGuard::resume(pqxx::work& tx, const SandboxRecord& sandbox,
                         const PlannedCharge& charge) {
  PlannedSpending spending = planned(sandbox, charge);
  if (!begins_anew(sandbox, clock_.now())) spending.ttl = from_now(sandbox).ttl;
  // The subject of a resumed sandbox is stored with its meter, not in its row.
  const auto subject = metered_subject(tx, sandbox.id.value);
  if (subject) spending.subject = *subject;
  budgets_.resume(tx, spending);
}

PlannedSpending BudgetGuard::from_now(const SandboxRecord& sandbox) const {
  std::optional<Money> charge;
  if (sandbox.charge_per_hour)
    charge = Money{Decimal::from_sql(*sandbox.charge_per_hour), sandbox.currency};
  const Time now = clock_.now();
  return {.tenant = sandbox.tenant,
          .sandbox = sandbox.id,
          .charge_per_hour = std::move(charge),
          .ttl = std::chrono::ceil<std::chrono::seconds>(std::max(sandbox.expires_at, now) - now)};
}

void BudgetGuard::adjust(pqxx::work& tx, const SandboxRecord& sandbox,
                         const std::optional<RunCharge>& max_charge) {
  PlannedSpending planned = from_now(sandbox);
  planned.max_charge = max_charge;
  budgets_.adjust(tx, planned);
}

void BudgetGuard::extend(pqxx::work& tx, const SandboxRecord& sandbox) {
  budgets_.extend_reservation(tx, from_now(sandbox));
}

void BudgetGuard::release(pqxx::work& tx, const SandboxId& id, const Money& keep) {
  budgets_.settle(tx, id, keep);
}

}  // namespace sandgate
