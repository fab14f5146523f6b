#include "gateway/compat/e2b/access_token.hpp"

#include "gateway/core/crypto.hpp"

namespace sandgate::compat::e2b {

std::string AccessTokens::token_of(const SandboxId& sandbox) const {
  return hmac_sha256_hex(key_, sandbox.value);
}

bool AccessTokens::verifies(const SandboxId& sandbox, std::string_view token) const {
  return equal_in_constant_time(token, token_of(sandbox));
}

std::string AccessTokens::traffic_token_of(const SandboxId& sandbox) const {
  return hmac_sha256_hex(key_, "traffic/" + sandbox.value);
}

bool AccessTokens::verifies_traffic(const SandboxId& sandbox, std::string_view token) const {
  return equal_in_constant_time(token, traffic_token_of(sandbox));
}

std::string signature_of(const SignedFile& file, std::string_view token) {
  std::string text = file.path + (file.writes ? ":write:" : ":read:") + file.user + ":";
  text.append(token);
  if (!file.expiration.empty()) text += ":" + file.expiration;
  std::string base64 = base64_encode(from_hex(sha256_hex(text)).value());
  base64.erase(base64.find_last_not_of('=') + 1);
  return "v1_" + base64;
}

bool is_well_formed(const SignedFile& file, std::string_view signature) {
  constexpr size_t kLength = 46, kLongestPath = 4095, kLongestName = 64;
  return signature.starts_with("v1_") && signature.size() == kLength &&
         file.path.size() <= kLongestPath && file.user.size() <= kLongestName &&
         file.expiration.size() <= kLongestName;
}

}  // namespace sandgate::compat::e2b
