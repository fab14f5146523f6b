#include "registry/decimal_text.hpp"

#include <algorithm>
#include <string>

namespace sandgate {
namespace {

constexpr size_t kMaxDigits = 12;

bool all_digits(std::string_view text) {
  return !text.empty() && text.size() <= kMaxDigits &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Pads both parts to full width, so that text order is numeric order.
std::string aligned(std::string_view text) {
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = point < text.size() ? text.substr(point + 1) : "";
  return std::string(kMaxDigits - whole.size(), '0')
      .append(whole)
      .append(fraction)
      .append(kMaxDigits - fraction.size(), '0');
}

}  // namespace

bool is_decimal(std::string_view text) {
  const size_t point = text.find('.');
  if (point == std::string_view::npos) return all_digits(text);
  return all_digits(text.substr(0, point)) && all_digits(text.substr(point + 1));
}

bool is_positive_decimal(std::string_view text) {
  return is_decimal(text) && text.find_first_of("123456789") != std::string_view::npos;
}

std::strong_ordering compare_decimals(std::string_view a, std::string_view b) {
  return aligned(a) <=> aligned(b);
}

}  // namespace sandgate
