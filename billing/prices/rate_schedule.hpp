#pragma once
#include <optional>
#include <string>

#include "billing/usage/metered_life.hpp"
#include "gateway/core/decimal.hpp"

namespace sandgate {

// The charge in one currency for a sandbox's time in its present state, at unit prices: each
// stretch at those of its time, also of versions that are published and begin later.
class RateSchedule {
 public:
  // `per_hour`: the rate of time that has no price in that currency, until one begins. Refers to
  // its arguments.
  RateSchedule(const PriceSnapshot& prices, const MeteredLife& life, const std::string& currency,
               const Decimal& per_hour)
      : prices_(prices), life_(life), currency_(currency), per_hour_(per_hour) {}

  // Rounded up as estimate() is.
  Decimal charge(Time from, Time to) const;
  // When an amount is used up; at most ten years after the last change of prices.
  Time lasts(Time from, Decimal amount) const;
  // Whether time at `at` is charged in another currency.
  bool is_foreign(Time at) const;

 private:
  bool counts(const std::optional<Money>& rate) const;
  Decimal rate(Time at, const Decimal& before) const;

  const PriceSnapshot& prices_;
  const MeteredLife& life_;
  const std::string& currency_;
  const Decimal& per_hour_;
};

}  // namespace sandgate
