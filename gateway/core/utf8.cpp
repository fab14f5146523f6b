#include "gateway/core/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace sandgate {
namespace {

// Length of the well-formed sequence at the start of `text` (not empty), or 0.
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  // The range of the second byte excludes overlong forms, surrogates and values above U+10FFFF.
  const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  return length;
}

bool eight_are_ascii(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return (word & 0x8080808080808080ULL) == 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    if (text.size() >= 8 && eight_are_ascii(text.data())) {
      text.remove_prefix(8);
      continue;
    }
    const size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string to_utf8(std::string_view bytes) {
  if (is_utf8(bytes)) return std::string(bytes);
  std::string text;
  while (!bytes.empty()) {
    const size_t length = sequence_length(bytes);
    text.append(length ? bytes.substr(0, length) : std::string_view("\xEF\xBF\xBD"));
    bytes.remove_prefix(length ? length : 1);
  }
  return text;
}

bool has_controls(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte < 0x20 || byte == 0x7F) return true;
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<uint8_t>(text[i + 1]) < 0xA0)
      return true;
  }
  return false;
}

std::string_view without_cut_character(std::string_view text) {
  for (size_t cut = 0; cut <= 3 && cut <= text.size(); ++cut)
    if (is_utf8(text.substr(0, text.size() - cut))) return text.substr(0, text.size() - cut);
  return text;
}

}  // namespace sandgate
