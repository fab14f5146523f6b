#pragma once
#include <optional>
#include <string_view>

namespace sandgate {

// Digits after the point of a currency's minor unit, of every ISO 4217 code of money in use: USD 2,
// JPY 0. Empty for other text, and for the codes of funds, metals and tests.
std::optional<int> minor_digits(std::string_view currency);

}  // namespace sandgate
