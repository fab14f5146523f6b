#include "local/egress/secret_header.hpp"

#include <algorithm>

#include "gateway/core/crypto.hpp"
#include "gateway/core/field_text.hpp"

namespace sandgate::egress {
namespace {

constexpr std::string_view kBasic = "basic ";

// A value may have 16 KiB, so a head full of placeholders could exhaust the shared memory.
constexpr size_t kMaxPlaces = 8;
// Length of the prefix that all placeholders have in common.
constexpr size_t kStart = 4;

using Grants = std::vector<const SecretGrant*>;

// The grants for this header of a request to the host.
Grants grants_for(const SecretGrants& secrets, std::string_view host, const std::string& header) {
  Grants found;
  for (const SecretGrant& grant : secrets.grants) {
    if (grant.host == host && grant.placeholder.size() > kStart && !grant.value.empty() &&
        ascii_lower(grant.header) == header)
      found.push_back(&grant);
  }
  return found;
}

// Replaces the placeholders in the fields of one request, and counts them.
class Substitution {
 public:
  // Returns whether there were any. Inserted values are skipped, never searched for placeholders.
  bool put_into(std::string& text, const Grants& grants) {
    const std::string start = grants.front()->placeholder.substr(0, kStart);
    bool found = false;
    for (size_t at = text.find(start); at != std::string::npos && wrong_.empty();
         at = text.find(start, at)) {
      const auto grant = std::find_if(grants.begin(), grants.end(), [&](const SecretGrant* one) {
        return text.compare(at, one->placeholder.size(), one->placeholder) == 0;
      });
      if (grant == grants.end()) wrong_ = "unknown_placeholder";
      if (++places_ > kMaxPlaces) wrong_ = "too_many_placeholders";
      if (!wrong_.empty()) break;
      const std::string& value = (*grant)->value.reveal();
      text.replace(at, (*grant)->placeholder.size(), value);
      at += value.size();
      found = true;
    }
    return found;
  }
  // Returns the encoded credential if it contains a value now, else an empty secret.
  Secret put_into_basic(std::string& field, const Grants& grants) {
    if (!starts_with_ignoring_case(field, kBasic)) return {};
    auto credential = base64_decode(std::string_view(field).substr(kBasic.size()));
    if (!credential || !put_into(*credential, grants)) return {};
    Secret encoded(base64_encode(*credential));
    OPENSSL_cleanse(credential->data(), credential->size());
    field.replace(kBasic.size(), std::string::npos, encoded.reveal());
    return encoded;
  }
  std::string_view wrong() const { return wrong_; }

 private:
  size_t places_ = 0;
  std::string_view wrong_;
};

bool echoes_by_purpose(const std::string& method) {
  const std::string lower = ascii_lower(method);
  return lower == "trace" || lower == "track" || lower == "options";
}

}  // namespace

bool has_grant_for(const SecretGrants& secrets, std::string_view host) {
  return std::any_of(secrets.grants.begin(), secrets.grants.end(),
                     [&](const SecretGrant& grant) { return grant.host == host; });
}

SubstitutedSecrets substitute_secrets(RequestHead& head, std::string_view host,
                                      const SecretGrants& secrets) {
  SubstitutedSecrets substituted;
  if (echoes_by_purpose(head.method)) return substituted;
  Substitution substitution;
  for (HeaderField& field : head.fields) {
    const Grants grants = grants_for(secrets, host, ascii_lower(field.name));
    if (grants.empty() || substitution.put_into(field.value, grants)) continue;
    Secret told = substitution.put_into_basic(field.value, grants);
    if (!told.empty())
      substituted.hidden.push_back(std::make_shared<const Needle>(std::move(told)));
  }
  substituted.wrong = substitution.wrong();
  return substituted;
}

}  // namespace sandgate::egress
