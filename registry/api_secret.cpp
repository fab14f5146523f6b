#include "registry/api_secret.hpp"

#include "gateway/core/crypto.hpp"
#include "gateway/core/random.hpp"

namespace sandgate {
namespace {

constexpr size_t kBytes = 20;

std::optional<std::string_view> digits_of(std::string_view text) {
  for (const std::string_view prefix : {"sg_", "e2b_"}) {
    if (!text.starts_with(prefix)) continue;
    const std::string_view digits = text.substr(prefix.size());
    if (digits.size() == 2 * kBytes &&
        digits.find_first_not_of("0123456789abcdef") == std::string_view::npos)
      return digits;
  }
  return std::nullopt;
}

}  // namespace

Secret make_api_secret() { return Secret("sg_" + random_hex(kBytes)); }

std::optional<std::string> api_secret_hash(std::string_view text) {
  const auto digits = digits_of(text);
  if (!digits) return std::nullopt;
  return sha256_hex(*digits);
}

std::string operator_secret_hash(std::string_view text) {
  return sha256_hex(digits_of(text).value_or(text));
}

}  // namespace sandgate
