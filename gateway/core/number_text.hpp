#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sandgate {

// The whole number that all of the text is; empty if it is none, or not one that a T holds. Of what
// may stand before the digits only '-' is read, and only into a signed T.
template <class T>
std::optional<T> number_from(std::string_view text, int base = 10) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [last, failure] = std::from_chars(text.data(), end, value, base);
  if (failure != std::errc() || last != end) return std::nullopt;
  return value;
}

// The port that the whole text is, as it is printed: 1 to 65535, without leading zeros.
inline std::optional<uint16_t> port_number_from(std::string_view text) {
  return text.starts_with('0') ? std::nullopt : number_from<uint16_t>(text);
}

}  // namespace sandgate
