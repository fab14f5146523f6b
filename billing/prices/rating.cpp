#include "billing/prices/rating.hpp"

namespace sandgate {
namespace {

// The currency of usage that no book prices: an amount of zero needs one too.
constexpr std::string_view kUnpricedCurrency = "USD";

Decimal with_markup(const Decimal& cost, const Decimal& percent) {
  static const Decimal kOnePercent(Decimal::Integer(1), 2);
  return cost + cost * percent * kOnePercent;
}

// How a meter is charged: by its charge entry, else by its cost entry with a markup. Points into
// the snapshot.
struct MeterCharge {
  const PriceTerms& terms;
  std::string_view currency;
  const Decimal* markup_percent = nullptr;  // null: none

  // At the unit price, without minimum, rounding and included quantity.
  Money of(const Decimal& quantity) const {
    const Decimal amount = terms.unit_price * quantity;
    return {markup_percent ? with_markup(amount, *markup_percent) : amount, std::string(currency)};
  }
};

// Empty when the meter has no price.
std::optional<MeterCharge> meter_charge(const PriceSnapshot& prices, const PriceScope& scope,
                                        MeterKind meter, Time at) {
  const auto cost = prices.cost(scope, meter, at);
  const auto charge = prices.charge(scope, meter, cost ? cost->currency : kUnpricedCurrency, at);
  if (charge.price) return MeterCharge{charge.price->entry->terms, charge.price->currency};
  if (!cost) return std::nullopt;
  return MeterCharge{cost->entry->terms, cost->currency,
                     charge.markup ? charge.markup->percent : nullptr};
}

}  // namespace

Decimal billed_quantity(const PriceTerms& terms, const Decimal& total) {
  if (total.is_zero()) return Decimal();
  Decimal billed = terms.minimum ? std::max(total, *terms.minimum) : total;
  if (terms.rounding) billed = billed.rounded_up_to(*terms.rounding);
  if (!terms.included) return billed;
  return billed > *terms.included ? billed - *terms.included : Decimal();
}

Decimal price_of(const PriceTerms& terms, const Decimal& before, const Decimal& quantity) {
  if (!terms.minimum && !terms.rounding && !terms.included) return terms.unit_price * quantity;
  return terms.unit_price *
         (billed_quantity(terms, before + quantity) - billed_quantity(terms, before));
}

Rated rate(const PriceSnapshot& prices, const PriceScope& scope, MeterKind meter, Time at,
           const Decimal& before, const Decimal& quantity) {
  Rated rated;
  rated.cost.currency = kUnpricedCurrency;
  if (const auto cost = prices.cost(scope, meter, at)) {
    const PriceTerms& terms = cost->entry->terms;
    rated.by_unit = terms.unit_price * quantity;
    rated.cost = {price_of(terms, before, quantity), std::string(cost->currency)};
    rated.cost_entry = cost->entry->id;
  }
  const auto charge = prices.charge(scope, meter, rated.cost.currency, at);
  rated.charge = rated.cost;
  if (charge.price) {
    const PriceTerms& terms = charge.price->entry->terms;
    rated.by_unit = terms.unit_price * quantity;
    rated.charge = {price_of(terms, before, quantity), std::string(charge.price->currency)};
    rated.charge_entry = charge.price->entry->id;
  } else if (charge.markup) {
    rated.charge.amount = with_markup(rated.cost.amount, *charge.markup->percent);
    rated.by_unit = with_markup(rated.by_unit, *charge.markup->percent);
    rated.markup_version = charge.markup->version_id;
  }
  return rated;
}

std::optional<HourlyCharge> hourly_charge(const PriceSnapshot& prices, const PriceScope& scope,
                                          const Resources& resources, Time at) {
  SumCurrency currency;
  std::vector<Money> parts;
  for (const auto& [meter, quantity] : quantities_per_hour(resources))
    if (const auto charge = meter_charge(prices, scope, meter, at)) {
      currency.consider(charge->terms.unit_price, charge->currency);
      parts.push_back(charge->of(quantity));
    }
  // Time may be free where creates, bytes or the like have a price.
  for (size_t i = 0; !currency.is_decided() && i < kOtherMeterKinds.size(); ++i)
    if (const auto charge = meter_charge(prices, scope, kOtherMeterKinds[i], at))
      currency.consider(charge->terms.unit_price, charge->currency);
  if (scope.own && !currency.get()) currency.consider(Decimal(), kUnpricedCurrency);
  if (!currency.get()) return std::nullopt;
  HourlyCharge hourly{{Decimal(), std::string(*currency.get())}};
  for (const Money& part : parts)
    if (part.currency == hourly.charge.currency)
      hourly.charge.amount += part.amount;
    else
      hourly.is_partial = hourly.is_partial || !part.amount.is_zero();
  return hourly;
}

std::optional<Money> charge_per_hour(const PriceSnapshot& prices, const PriceScope& scope,
                                     const Resources& resources, Time at) {
  auto hourly = hourly_charge(prices, scope, resources, at);
  return hourly ? std::optional(std::move(hourly->charge)) : std::nullopt;
}

Decimal charge_of_steps(const PriceSnapshot& prices, const PriceScope& scope,
                        const Resources& resources, Time at, const std::string& currency) {
  Decimal total;
  for (const auto& [meter, quantity] : quantities_per_hour(resources)) {
    const auto charge = meter_charge(prices, scope, meter, at);
    if (quantity.is_zero() || !charge || charge->currency != currency) continue;
    total += charge->of(charge->terms.rounding.value_or(Decimal())).amount;
  }
  return total;
}

std::set<std::string> other_currencies(const PriceSnapshot& prices, const PriceScope& scope,
                                       Time at, const std::string& currency) {
  std::set<std::string> others;
  for (const MeterKind meter : kMeterKinds) {
    const auto charge = meter_charge(prices, scope, meter, at);
    if (charge && charge->currency != currency && !charge->terms.unit_price.is_zero())
      others.emplace(charge->currency);
  }
  return others;
}

}  // namespace sandgate
