#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/ids.hpp"
#include "gateway/core/secret.hpp"

namespace sandgate::compat::e2b {

// Access tokens for the data plane of sandboxes. A token is an HMAC of the sandbox id under the
// installation's key, so it is not stored and every gateway of the database accepts it. `verifies`
// compares in constant time.
class AccessTokens {
 public:
  explicit AccessTokens(Secret key) : key_(std::move(key)) {}
  std::string token_of(const SandboxId& sandbox) const;
  bool verifies(const SandboxId& sandbox, std::string_view token) const;
  // The token that clients send where they do not send the other: it opens the sandbox's contexts
  // of the code interpreter, and nothing else.
  std::string traffic_token_of(const SandboxId& sandbox) const;
  bool verifies_traffic(const SandboxId& sandbox, std::string_view token) const;

 private:
  const Secret key_;
};

// The claims of a signed file URL, as the client wrote them.
struct SignedFile {
  std::string path, user;
  bool writes = false;
  std::string expiration;  // Unix seconds as text; empty: does not expire
};

// The signature of the claims with a sandbox's token: "v1_" and unpadded base64 of a SHA-256.
std::string signature_of(const SignedFile& file, std::string_view token);

// Whether the signature is well-formed, so that it is worth comparing with tokens.
bool is_well_formed(const SignedFile& file, std::string_view signature);

}  // namespace sandgate::compat::e2b
