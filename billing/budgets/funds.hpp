#pragma once
#include <optional>
#include <vector>

#include "billing/budgets/budget_rows.hpp"

namespace sandgate {

// Whether the budget is of the reservation's tenant, applies to its sandbox and has its currency.
bool pays_for(const Budget& budget, const Reservation& reservation);

// The smallest amount left in the budgets that pay for it; negative where one is overspent, empty
// when none does.
std::optional<Decimal> min_remaining(const std::vector<Budget>& budgets,
                                     const Reservation& reservation);
// The same, at least 0.
std::optional<Decimal> available(const std::vector<Budget>& budgets,
                                 const Reservation& reservation);

// Counts, in memory, that `amount` more (negative: less) is held for it by the budgets that pay for
// it.
void add_reserved(std::vector<Budget>& budgets, const Reservation& reservation,
                  const Decimal& amount);

// The change of the budgets that pay for it when `amount` more is held for it.
ReservationDelta delta_of(const std::vector<Budget>& budgets, const Reservation& reservation,
                          const Decimal& amount);

}  // namespace sandgate
