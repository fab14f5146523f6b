#pragma once
#include <optional>
#include <vector>

#include "billing/budget_rows.hpp"

namespace sandgate {

// Whether it limits what the reservation is for, in its currency.
bool pays_for(const Budget& budget, const Reservation& reservation);

// The least that any of the budgets that pay for it has left, never negative; empty without one.
std::optional<Decimal> available(const std::vector<Budget>& budgets,
                                 const Reservation& reservation);

}  // namespace sandgate
