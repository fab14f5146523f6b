#pragma once
#include <string>

#include "billing/price_book.hpp"
#include "gateway/core/database.hpp"

namespace sandgate {

// What a version of a price book would have made of usage that is booked already.
struct PricePreview {
  PriceVersion draft;  // as if in force from `from` on, above the book's own versions
  Time from, to;  // of the interval's start, [from, to)
};

// Rates the usage of that time again, exactly as it was booked and with the draft in force, and
// adds both up by tenant, deployment, meter and currencies. Nothing is changed. Throws
// Error(too_large) for more than a million events.
// {from, to, events, items: [{tenant, deployment, meter, quantity, currency, cost_currency,
//  booked: {cost, charge}, preview: {cost, charge}, difference: {cost, charge}}], total: […]}
Task<Json> preview_prices(Database& database, PricePreview wanted);

}  // namespace sandgate
