#pragma once
#include <optional>
#include <string_view>

namespace sandgate {

// The decimal digits of a currency's minor unit (USD 2, JPY 0), for every ISO 4217 code of money in
// use. Empty for other text, and for the codes of funds, metals and tests.
std::optional<int> minor_digits(std::string_view currency);

}  // namespace sandgate
