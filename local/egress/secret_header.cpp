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

bool put_into(std::string& value, const SecretGrant& grant) {
  if (replace_all(value, grant.placeholder, grant.value.reveal())) return true;
  if (!lower_case(value.substr(0, kBasic.size())).starts_with(kBasic)) return false;
  auto credential = base64_decode(std::string_view(value).substr(kBasic.size()));
  if (!credential || !replace_all(*credential, grant.placeholder, grant.value.reveal()))
    return false;
  value.replace(kBasic.size(), std::string::npos, base64_encode(*credential));
  return true;
}

// How many bytes at the end of `text` are the beginning of `value`.
size_t begun_at_end(std::string_view text, std::string_view value) {
  for (size_t length = std::min(text.size(), value.size() - 1); length > 0; --length)
    if (text.ends_with(value.substr(0, length))) return length;
  return 0;
}

}  // namespace

bool has_grant_for(const SecretGrants& secrets, std::string_view host) {
  return std::any_of(secrets.grants.begin(), secrets.grants.end(),
                     [&](const SecretGrant& grant) { return grant.host == host; });
}

std::vector<const SecretGrant*> put_secrets(RequestHead& head, std::string_view host,
                                            const SecretGrants& secrets) {
  std::vector<const SecretGrant*> used;
  if (head.method == "TRACE" || head.method == "OPTIONS") return used;
  for (const SecretGrant& grant : secrets.grants) {
    if (grant.host != host || grant.placeholder.empty() || grant.value.empty()) continue;
    bool put = false;
    for (HeaderField& field : head.fields)
      if (lower_case(field.name) == lower_case(grant.header)) put |= put_into(field.value, grant);
    if (put) used.push_back(&grant);
  }
  return used;
}

Mask::Mask(const std::vector<const SecretGrant*>& grants) {
  for (const SecretGrant* grant : grants) values_.push_back(grant->value);
}

std::string Mask::pass(std::string_view bytes) {
  if (values_.empty()) return std::string(bytes);
  kept_.append(bytes);
  size_t keep = 0;
  for (const Secret& secret : values_) {
    const std::string& value = secret.reveal();
    replace_all(kept_, value, std::string(value.size(), '*'));
    keep = std::max(keep, begun_at_end(kept_, value));
  }
  std::string out = kept_.substr(0, kept_.size() - keep);
  kept_.erase(0, out.size());
  return out;
}

std::string Mask::rest() { return std::move(kept_); }

}  // namespace sandgate::egress
