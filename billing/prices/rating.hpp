#pragma once
#include <optional>
#include <set>
#include <string>

#include "billing/prices/price_snapshot.hpp"

namespace sandgate {

// The exact cost and charge of one piece of usage, and the ids of the price rows they come from.
struct Rated {
  Money cost, charge;
  std::optional<int64_t> cost_entry, charge_entry, markup_version;
  Decimal by_unit;  // the charge without minimum, rounding and included quantity
};

// The part of a sandbox's total quantity that is paid for; see PriceTerms.
Decimal billed_quantity(const PriceTerms& terms, const Decimal& total);

// The price of the next `quantity` of a meter after `before` was used. It is the difference of two
// totals, so the sum does not depend on where intervals are cut.
Decimal price_of(const PriceTerms& terms, const Decimal& before, const Decimal& quantity);

// Rates usage that began at `at`. A meter without a cost price costs nothing; without a charge book
// the charge equals the cost.
Rated rate(const PriceSnapshot& prices, const PriceScope& scope, MeterKind meter, Time at,
           const Decimal& before, const Decimal& quantity);

// The tenant's charge for an hour of running at the unit prices of `at`, without minimums, rounding
// and included quantities. Empty when no meter of the backend has a price, but zero on a tenant's
// own deployment. Meters charged in another currency than that of the sum (see SumCurrency) are
// left out; it is partial if they charge anything.
struct HourlyCharge {
  Money charge;
  bool is_partial = false;
};
std::optional<HourlyCharge> hourly_charge(const PriceSnapshot& prices, const PriceScope& scope,
                                          const Resources& resources, Time at);
// The same, where it does not matter whether that is all.
std::optional<Money> charge_per_hour(const PriceSnapshot& prices, const PriceScope& scope,
                                     const Resources& resources, Time at);

// The charge in `currency` for one rounding step of each hourly meter: the most that rounding adds
// to a sandbox's charge.
Decimal charge_of_steps(const PriceSnapshot& prices, const PriceScope& scope,
                        const Resources& resources, Time at, const std::string& currency);

// The currencies other than `currency` in which a meter of the scope has a price above zero.
std::set<std::string> other_currencies(const PriceSnapshot& prices, const PriceScope& scope,
                                       Time at, const std::string& currency);

}  // namespace sandgate
