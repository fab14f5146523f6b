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
// Takes the same time wherever two texts of equal length differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// Base64 with padding, for bytes in JSON fields and SSE data. Decoding is strict: padding is
// required and no other character is skipped; empty otherwise.
std::string base64_encode(std::string_view bytes);
std::optional<std::string> base64_decode(std::string_view text);

// RFC 4122 version 5 (SHA-1) of `name` in a namespace given as canonical text.
std::string uuid_v5(std::string_view uuid_namespace, std::string_view name);

// Encrypts values for storage in the database: AES-256-GCM with a random nonce per value. `context`
// (such as "deployment/e2b-main") is authenticated too: a value copied to another row does not
// open.
class Cipher {
 public:
  // `key` must be 32 bytes, otherwise throws Error(invalid).
  explicit Cipher(Secret key);
  std::string seal(const Secret& value, std::string_view context) const;
  // Throws Error(internal) if the value was altered or sealed with another key or context.
  Secret open(std::string_view sealed, std::string_view context) const;

 private:
  Secret key_;
};

}  // namespace sandgate
