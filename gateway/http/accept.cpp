#include "gateway/http/accept.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "gateway/core/field_text.hpp"

namespace sandgate::http {
namespace {

// Removes the part before the separator from the text and returns it trimmed.
std::string_view take_until(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view front = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return trimmed(front);
}

// A missing or malformed weight counts as 1.
double weight_of(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string text(take_until(parameters, ';'));
    if (!starts_with_ignoring_case(text, "q=")) continue;
    double weight = 1;
    const char* const end = text.data() + text.size();
    const auto [last, failure] = std::from_chars(text.data() + 2, end, weight);
    return failure == std::errc() && last == end ? weight : 1;
  }
  return 1;
}

// Returns the greatest weight given for the type; empty if the type is not listed.
std::optional<double> weight_in(std::string_view accept, std::string_view type) {
  std::optional<double> heaviest;
  while (!accept.empty()) {
    std::string_view range = take_until(accept, ',');
    if (!equal_ignoring_case(take_until(range, ';'), type)) continue;
    heaviest = std::max(heaviest.value_or(0), weight_of(range));
  }
  return heaviest;
}

}  // namespace

bool prefers(std::string_view accept, std::string_view wanted, std::string_view usual) {
  const auto weight = weight_in(accept, wanted);
  return weight && *weight > 0 && *weight > weight_in(accept, usual).value_or(0);
}

}  // namespace sandgate::http
