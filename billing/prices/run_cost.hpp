#pragma once
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "billing/prices/price_snapshot.hpp"

namespace sandgate {

// The quantities of a run of that length: the create and each meter that follows from the size.
using RunQuantities = std::array<std::pair<MeterKind, Decimal>, 5>;
RunQuantities used_by(const Resources& size, std::chrono::microseconds ran);

// The charge for a run of that length at the prices of `at`: the create and every meter that
// follows from the size, with minimums, rounding and included quantities. Active CPU counts as
// fully busy. Empty when no charge is known; meters charged in another currency than the first are
// left out.
std::optional<Money> charge_of_run(const PriceSnapshot& prices, const PriceScope& scope,
                                   const Resources& size, Time at, std::chrono::microseconds ran);

}  // namespace sandgate
