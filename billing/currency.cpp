#include "billing/currency.hpp"

#include <utility>

namespace sandgate {
namespace {

constexpr std::pair<std::string_view, int> kCurrencies[] = {
    {"AUD", 2}, {"BHD", 3}, {"BRL", 2}, {"CAD", 2}, {"CHF", 2}, {"CNY", 2}, {"CZK", 2}, {"DKK", 2},
    {"EUR", 2}, {"GBP", 2}, {"HKD", 2}, {"HUF", 2}, {"ILS", 2}, {"INR", 2}, {"JOD", 3}, {"JPY", 0},
    {"KRW", 0}, {"KWD", 3}, {"MXN", 2}, {"NOK", 2}, {"NZD", 2}, {"PLN", 2}, {"RON", 2}, {"SEK", 2},
    {"SGD", 2}, {"TND", 3}, {"TRY", 2}, {"UAH", 2}, {"USD", 2}, {"ZAR", 2},
};

}  // namespace

std::optional<int> minor_digits(std::string_view currency) {
  for (const auto& [code, digits] : kCurrencies)
    if (code == currency) return digits;
  return std::nullopt;
}

}  // namespace sandgate
