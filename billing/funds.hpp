#pragma once
#include <optional>
#include <vector>

#include "billing/budget_rows.hpp"

namespace sandgate {

// Whether the budget is of the reservation's tenant, applies to its sandbox and has its currency.
bool pays_for(const Budget& budget, const Reservation& reservation);

// The smallest amount left in the budgets that pay for it, at least 0; empty when none does.
std::optional<Decimal> available(const std::vector<Budget>& budgets,
                                 const Reservation& reservation);

// The change of the budgets that pay for it when `amount` more is held for it.
SetAside aside_of(const std::vector<Budget>& budgets, const Reservation& reservation,
                  const Decimal& amount);

}  // namespace sandgate
