#pragma once
#include <functional>
#include <span>
#include <vector>

#include "billing/budgets/budget_rows.hpp"

// How sandboxes share money that does not suffice for all: everybody is covered up to one and the
// same moment. Pure functions over values.
namespace sandgate {

// What is wanted beyond what is held for a sandbox.
struct Claim {
  const Reservation* reservation;  // says which budgets pay; not null
  Time from, until;  // covered to begin with; to be covered at the most
  std::function<Decimal(Time)> cost;  // of the time from `from` to a later moment; never falls
};

// What each claim gets of what the budgets have left: all of it where that suffices, else the cost
// up to the latest moment that all of a budget's claims can be covered to. A claim that is covered
// longer than that gets nothing, and one that no exhausted budget pays for gets more. Never more
// than a budget has; of one that cannot pay for all, less than a microsecond of each is left over.
std::vector<Decimal> fair_shares(std::vector<Budget> budgets, const std::vector<Claim>& claims);

// What each reservation gives up of what is held for it, at its present rate, so that all of it is
// `excess` (positive): those that last longest first, down to one and the same moment, but not
// below `lowest`. Less than `excess` in all where not enough is held for time after that.
std::vector<Decimal> fair_cuts(std::span<const Reservation> reservations, const Decimal& excess,
                               Time lowest);

}  // namespace sandgate
