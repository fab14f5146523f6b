#include "gateway/core/ids.hpp"

#include <algorithm>

#include "gateway/core/random.hpp"

namespace sandgate {
namespace {

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr size_t kRandomLength = 24;

}  // namespace

std::string make_id(std::string_view kind) {
  std::string id(kind);
  while (id.size() < kind.size() + kRandomLength) {
    const uint8_t byte = random_byte();
    // 252 is the largest multiple of 36 below 256: rejecting the rest keeps letters equally likely.
    if (byte < 252) id.push_back(kAlphabet[byte % kAlphabet.size()]);
  }
  return id;
}

bool is_id(std::string_view kind, std::string_view text) {
  if (text.size() != kind.size() + kRandomLength || !text.starts_with(kind)) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

}  // namespace sandgate
