#pragma once
#include <optional>
#include <string_view>

namespace sandgate {

// Digits after the point of a currency's minor unit (ISO 4217): USD 2, JPY 0. Empty for a code
// that Sandgate does not account in.
std::optional<int> minor_digits(std::string_view currency);

}  // namespace sandgate
