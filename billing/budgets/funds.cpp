#include "billing/budgets/funds.hpp"

#include <algorithm>

namespace sandgate {

bool pays_for(const Budget& budget, const Reservation& reservation) {
  return budget.tenant == reservation.tenant && budget.currency == reservation.currency &&
         budget.applies_to.holds_for(reservation.subject);
}

std::optional<Decimal> min_remaining(const std::vector<Budget>& budgets,
                                     const Reservation& reservation) {
  std::optional<Decimal> least;
  for (const Budget& budget : budgets)
    if (pays_for(budget, reservation))
      least = std::min(least.value_or(budget.remaining()), budget.remaining());
  return least;
}

std::optional<Decimal> available(const std::vector<Budget>& budgets,
                                 const Reservation& reservation) {
  const auto least = min_remaining(budgets, reservation);
  return least ? std::optional(std::max(*least, Decimal())) : least;
}

void add_reserved(std::vector<Budget>& budgets, const Reservation& reservation,
                  const Decimal& amount) {
  for (Budget& budget : budgets)
    if (pays_for(budget, reservation)) budget.reserved += amount;
}

ReservationDelta delta_of(const std::vector<Budget>& budgets, const Reservation& reservation,
                          const Decimal& amount) {
  ReservationDelta delta{.amount = amount};
  for (const Budget& budget : budgets)
    if (pays_for(budget, reservation)) delta.budgets.push_back(budget.id);
  return delta;
}

}  // namespace sandgate
