#pragma once
#include <string_view>

#include "billing/prices/price_books.hpp"

namespace sandgate {

// The text of shipped_prices.json: the vendors' list prices, a body of PUT /v1/prices with a source
// and its date on every entry.
std::string_view shipped_prices_json();

// Publishes the shipped prices as the cost book "shipped", or as its new version from now on when
// they changed. Idempotent, also when replicas do it at the same time.
Task<void> seed_prices(Database& database);

}  // namespace sandgate
