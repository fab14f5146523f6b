#pragma once
#include <chrono>
#include <optional>

#include "billing/price_snapshot.hpp"

namespace sandgate {

// What running for that long costs at prices of `at`: the create and every meter that follows from
// the size, with minimums, rounding and included quantities. Active CPU counts as if it were fully
// busy. Empty when no cost price of that backend is known; meters priced in another currency than
// the first are left out.
std::optional<Money> cost_of_run(const PriceSnapshot& prices, const PriceScope& scope,
                                 const Resources& size, Time at, std::chrono::microseconds ran);

// The same of what its tenant is charged. Empty when no charge is known.
std::optional<Money> charge_of_run(const PriceSnapshot& prices, const PriceScope& scope,
                                   const Resources& size, Time at, std::chrono::microseconds ran);

}  // namespace sandgate
