#pragma once
#include <string>

#include "billing/prices/price_book.hpp"
#include "gateway/core/database.hpp"

namespace sandgate {

// A request to rate booked usage again with a draft version of a price book.
struct PricePreview {
  PriceVersion draft;  // in force from `from` on, above the book's own versions
  Time from, to;  // of the interval's start, [from, to)
};

// Rates the usage of that time again with the draft in force, and sums what was booked and what the
// draft gives by tenant, deployment, meter and currencies. Changes nothing. Throws Error(too_large)
// for more than a million events. Returns:
// {from, to, events, items: [{tenant, deployment, meter, quantity, currency, cost_currency,
//  booked: {cost, charge}, preview: {cost, charge}, difference: {cost, charge}}], total: […]}
Task<Json> preview_prices(Database& database, PricePreview wanted);

}  // namespace sandgate
