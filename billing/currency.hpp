#pragma once
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace sandgate {

// The decimal digits of a currency's minor unit (USD 2, JPY 0), for every ISO 4217 code of money in
// use. Empty for other text, and for the codes of funds, metals and tests.
std::optional<int> minor_digits(std::string_view currency);
inline constexpr const char* kUnknownCurrency = "is not a currency that Sandgate accounts in";

// The currency of an answer that adds up one only: the one asked for, else USD when anything is in
// it or nothing is in any, else the first by name of those `seen`.
std::string report_currency(const std::optional<std::string>& asked,
                            const std::set<std::string>& seen);

}  // namespace sandgate
