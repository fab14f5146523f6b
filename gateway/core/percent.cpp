#include "gateway/core/percent.hpp"

#include <cctype>

#include "gateway/core/utf8.hpp"

namespace sandgate {
namespace {

int either_case_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decode(std::string_view encoded, bool plus_is_space) {
  std::string text;
  text.reserve(encoded.size());
  for (size_t i = 0; i < encoded.size(); ++i) {
    char c = encoded[i];
    if (c == '%') {
      if (i + 2 >= encoded.size()) return std::nullopt;
      const int high = either_case_digit(encoded[i + 1]), low = either_case_digit(encoded[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (c == '\0') return std::nullopt;
    text.push_back(c);
  }
  if (!is_utf8(text)) return std::nullopt;
  return text;
}

}  // namespace

std::string percent_encode(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char letter : text) {
    const auto c = static_cast<unsigned char>(letter);
    if (std::isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~')
      encoded.push_back(letter);
    else
      encoded.append({'%', kHex[c >> 4], kHex[c & 15]});
  }
  return encoded;
}

std::optional<std::string> percent_decode(std::string_view encoded) {
  return decode(encoded, /*plus_is_space=*/false);
}

std::optional<std::string> form_decode(std::string_view encoded) {
  return decode(encoded, /*plus_is_space=*/true);
}

}  // namespace sandgate
