#pragma once
#include <compare>
#include <string_view>

namespace sandgate {

// Exact decimals as text, for comparing money without arithmetic: digits, at most 12 before and 12
// after the point, no sign, no exponent ("0.20").
bool is_decimal(std::string_view text);
bool is_positive_decimal(std::string_view text);
// Compares by value: "0.2" equals "0.20". Both must be decimals.
std::strong_ordering compare_decimals(std::string_view a, std::string_view b);

}  // namespace sandgate
