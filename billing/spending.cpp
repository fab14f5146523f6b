#include "billing/spending.hpp"

#include <algorithm>

#include "billing/sql_array.hpp"

namespace sandgate {
namespace {

struct Drawn {
  Decimal charge;
  Time until;
};

}  // namespace

void Spending::lock(pqxx::work& tx, const std::vector<UsageEvent>& events) {
  std::set<std::string> tenants;
  Time latest;
  for (const UsageEvent& event : events) {
    tenants.insert(event.tenant);
    latest = std::max(latest, event.interval.from);
  }
  budgets_ = lock_budgets(tx, tenants, latest);
}

void Spending::charge(pqxx::work& tx, const std::vector<UsageEvent>& booked) {
  if (budgets_.empty()) return;
  read_subjects(tx, booked);
  for (Budget& budget : budgets_)
    for (const UsageEvent& event : booked)
      if (event.tenant == budget.tenant && event.rated.charge.currency == budget.currency &&
          budget.covers(event.interval.from) && holds_for(budget, event.sandbox.value))
        budget.spent += event.rated.charge.amount;
  draw_down(tx, booked);
  tell_thresholds(tx, budgets_);
  update_budgets(tx, budgets_);
}

void Spending::read_subjects(pqxx::work& tx, const std::vector<UsageEvent>& booked) {
  const bool all = std::all_of(budgets_.begin(), budgets_.end(), [](const Budget& budget) {
    return budget.applies_to.is_everything();
  });
  if (all) return;
  SqlArray sandboxes;
  for (const UsageEvent& event : booked) sandboxes.add(event.sandbox.value);
  for (const auto& row :
       tx.exec_params("SELECT sandbox, budget_subject(profile, key, metadata) FROM metered_sandbox"
                      " WHERE sandbox = ANY ($1::text[])",
                      sandboxes.str()))
    subjects_[row[0].as<std::string>()] = budget_subject_from(Json::parse(row[1].c_str()));
}

bool Spending::holds_for(const Budget& budget, const std::string& sandbox) const {
  if (budget.applies_to.is_everything()) return true;
  const auto found = subjects_.find(sandbox);
  return found != subjects_.end() && budget.applies_to.holds_for(found->second);
}

void Spending::draw_down(pqxx::work& tx, const std::vector<UsageEvent>& booked) {
  std::set<std::string> sandboxes;
  for (const UsageEvent& event : booked) sandboxes.insert(event.sandbox.value);
  auto reservations = lock_reservations(tx, sandboxes);
  std::map<std::string, Drawn> drawn;
  for (const UsageEvent& event : booked) {
    Drawn& sum = drawn[event.sandbox.value];
    sum.charge += event.rated.charge.amount;
    sum.until = std::max(sum.until, event.interval.to);
  }
  for (Reservation& reservation : reservations) {
    const Drawn& sum = drawn[reservation.sandbox];
    const Decimal part = std::min(reservation.held, sum.charge);
    reservation.held -= part;
    // Beyond what was held nothing is paid, whatever it cost when it was set aside: also nothing.
    reservation.covered_until = sum.until;
    if (part == sum.charge)
      reservation.covered_until += lasts(reservation.held, reservation.charge_per_hour);
    for (Budget& budget : budgets_)
      if (budget.tenant == reservation.tenant && budget.currency == reservation.currency &&
          budget.applies_to.holds_for(reservation.subject))
        budget.reserved -= part;
  }
  if (!reservations.empty()) update_reservations(tx, reservations);
}

}  // namespace sandgate
