#include "gateway/http/percent.hpp"

#include "gateway/core/utf8.hpp"

namespace sandgate::http {
namespace {

int hex_digit(char c) {
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
      const int high = hex_digit(encoded[i + 1]), low = hex_digit(encoded[i + 2]);
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

std::optional<std::string> percent_decode(std::string_view encoded) {
  return decode(encoded, false);
}

std::optional<std::string> form_decode(std::string_view encoded) { return decode(encoded, true); }

}  // namespace sandgate::http
