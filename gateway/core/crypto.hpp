#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/secret.hpp"

namespace sandgate {

std::string to_hex(std::string_view bytes);
std::optional<std::string> from_hex(std::string_view text);  // lower case only
std::string sha256_hex(std::string_view bytes);
std::string hmac_sha256_hex(const Secret& key, std::string_view message);
// Time does not depend on where the texts differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// Base64 with padding, as JSON fields and SSE data carry bytes. decode is strict.
std::string base64_encode(std::string_view bytes);
std::optional<std::string> base64_decode(std::string_view text);

// RFC 4122 version 5 (SHA-1) of `name` in a namespace given as canonical text.
std::string uuid_v5(std::string_view uuid_namespace, std::string_view name);

// Seals values kept in the database: AES-256-GCM, a random nonce each, bound to `context` (say
// "deployment/e2b-main"), so that a sealed value copied to another row does not open.
class Vault {
 public:
  // `key`: 32 bytes. Throws Error(invalid) otherwise.
  explicit Vault(Secret key);
  std::string seal(const Secret& value, std::string_view context) const;
  // Throws Error(internal) when the value was tampered with or sealed under another key.
  Secret open(std::string_view sealed, std::string_view context) const;

 private:
  Secret key_;
};

}  // namespace sandgate
