#include "local/egress/secret_header.hpp"

#include <algorithm>

#include "gateway/core/crypto.hpp"

namespace sandgate::egress {
namespace {

constexpr std::string_view kBasic = "basic ";

bool replace_all(std::string& text, const std::string& from, const std::string& to) {
  bool found = false;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
    found = true;
  }
  return found;
}

// Empty when the placeholder is not in it; else the text that tells the value from now on.
Secret put_into(std::string& value, const SecretGrant& grant) {
  if (replace_all(value, grant.placeholder, grant.value.reveal())) return grant.value;
  if (!lower_case(value.substr(0, kBasic.size())).starts_with(kBasic)) return {};
  auto credential = base64_decode(std::string_view(value).substr(kBasic.size()));
  if (!credential || !replace_all(*credential, grant.placeholder, grant.value.reveal())) return {};
  const Secret encoded(base64_encode(*credential));
  OPENSSL_cleanse(credential->data(), credential->size());
  value.replace(kBasic.size(), std::string::npos, encoded.reveal());
  return encoded;
}

bool echoes_by_purpose(const std::string& method) {
  const std::string lower = lower_case(method);
  return lower == "trace" || lower == "options";
}

}  // namespace

bool has_grant_for(const SecretGrants& secrets, std::string_view host) {
  return std::any_of(secrets.grants.begin(), secrets.grants.end(),
                     [&](const SecretGrant& grant) { return grant.host == host; });
}

std::vector<Secret> put_secrets(RequestHead& head, std::string_view host,
                                const SecretGrants& secrets) {
  std::vector<Secret> hidden;
  for (const SecretGrant& grant : secrets.grants) {
    if (grant.host != host || grant.placeholder.empty() || grant.value.empty()) continue;
    hidden.push_back(grant.value);
    if (echoes_by_purpose(head.method)) continue;
    for (HeaderField& field : head.fields) {
      if (lower_case(field.name) != lower_case(grant.header)) continue;
      Secret told = put_into(field.value, grant);
      if (!told.empty() && told.reveal() != grant.value.reveal()) hidden.push_back(std::move(told));
    }
  }
  return hidden;
}

}  // namespace sandgate::egress
