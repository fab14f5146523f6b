#pragma once
#include <string_view>

#include "billing/price_books.hpp"

namespace sandgate {

inline constexpr std::string_view kShippedBook = "shipped";

// shipped_prices.json: the vendors' list prices, a body of PUT /v1/prices with a source and its
// date on every entry.
std::string_view shipped_prices_json();

// Publishes the shipped prices as the book "shipped" (cost), or a new version of it from now on
// when they changed. Idempotent; replicas may race.
Task<void> seed_prices(Database& database);

}  // namespace sandgate
