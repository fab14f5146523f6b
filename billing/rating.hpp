#pragma once
#include <optional>
#include <set>
#include <string>

#include "billing/price_snapshot.hpp"

namespace sandgate {

// What one piece of usage comes to, exactly, and which rows of the price books say so.
struct Rated {
  Money cost, charge;
  std::optional<int64_t> cost_entry, charge_entry, markup_version;
  Decimal by_unit;  // the charge without minimum, rounding and included quantity
};

// The part of a sandbox's total quantity that is paid for; see PriceTerms.
Decimal billed_quantity(const PriceTerms& terms, const Decimal& total);

// The price of `quantity` more of a meter after `before` of it: the difference of two totals, so
// that cutting an interval at any point never changes the sum.
Decimal price_of(const PriceTerms& terms, const Decimal& before, const Decimal& quantity);

// Rates usage that began at `at`. A meter without a cost price costs nothing; without a charge
// book the charge is the cost.
Rated rate(const PriceSnapshot& prices, const PriceScope& scope, MeterKind meter, Time at,
           const Decimal& before, const Decimal& quantity);

// What an hour of running is charged to the scope's tenant at `at`, without minimums and included
// quantities. Empty when neither cost nor charge of that backend is known; a tenant's own is free
// then. Meters charged in another currency than the first are left out.
std::optional<Money> charge_per_hour(const PriceSnapshot& prices, const PriceScope& scope,
                                     const Resources& resources, Time at);

// What one step of each meter's rounding is charged, in `currency`: no quantity is charged more
// than that beyond itself.
Decimal charge_of_steps(const PriceSnapshot& prices, const PriceScope& scope,
                        const Resources& resources, Time at, const std::string& currency);

// The currencies beside `currency` in which something of a sandbox there may be charged.
std::set<std::string> other_currencies(const PriceSnapshot& prices, const PriceScope& scope,
                                       Time at, const std::string& currency);

}  // namespace sandgate
