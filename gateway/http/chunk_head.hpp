#pragma once
#include <charconv>
#include <string>

namespace sandgate::http {

// What precedes a chunk of that many bytes in a chunked body; "\r\n" follows it.
inline std::string chunk_head(size_t bytes) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, bytes, 16).ptr;
  return std::string(digits, end) + "\r\n";
}

}  // namespace sandgate::http
