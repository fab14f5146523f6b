#include "billing/funds.hpp"

#include <algorithm>

namespace sandgate {

bool pays_for(const Budget& budget, const Reservation& reservation) {
  return budget.tenant == reservation.tenant && budget.currency == reservation.currency &&
         budget.applies_to.holds_for(reservation.subject);
}

std::optional<Decimal> least_left(const std::vector<Budget>& budgets,
                                  const Reservation& reservation) {
  std::optional<Decimal> least;
  for (const Budget& budget : budgets)
    if (pays_for(budget, reservation))
      least = std::min(least.value_or(budget.remaining()), budget.remaining());
  return least;
}

std::optional<Decimal> available(const std::vector<Budget>& budgets,
                                 const Reservation& reservation) {
  const auto least = least_left(budgets, reservation);
  return least ? std::optional(std::max(*least, Decimal())) : least;
}

void count_held(std::vector<Budget>& budgets, const Reservation& reservation,
                const Decimal& amount) {
  for (Budget& budget : budgets)
    if (pays_for(budget, reservation)) budget.reserved += amount;
}

SetAside aside_of(const std::vector<Budget>& budgets, const Reservation& reservation,
                  const Decimal& amount) {
  SetAside aside{.amount = amount};
  for (const Budget& budget : budgets)
    if (pays_for(budget, reservation)) aside.budgets.push_back(budget.id);
  return aside;
}

}  // namespace sandgate
