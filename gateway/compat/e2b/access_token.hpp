#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/ids.hpp"
#include "gateway/core/secret.hpp"

namespace sandgate::compat::e2b {

// What opens the data plane of one sandbox: worked out from its id and the installation's key, so
// that it is kept nowhere and every gateway of one database knows it.
class AccessTokens {
 public:
  explicit AccessTokens(Secret key) : key_(std::move(key)) {}
  std::string token_of(const SandboxId& sandbox) const;
  bool opens(const SandboxId& sandbox, std::string_view token) const;

 private:
  const Secret key_;
};

// What a signed address lets its bearer do, as the client wrote it.
struct SignedFile {
  std::string path, user;
  bool writes = false;
  std::string expiration;  // unix seconds as text; empty: none
};

// The signature under a sandbox's token: "v1_" and base64 of a SHA-256, without padding.
std::string signature_of(const SignedFile& file, std::string_view token);

// Whether any token could make it right: what cannot be is not worth looking through them.
bool may_be_right(const SignedFile& file, std::string_view signature);

}  // namespace sandgate::compat::e2b
