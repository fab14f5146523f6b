#pragma once
#include <memory>
#include <optional>
#include <string>

#include "gateway/core/notifications.hpp"
#include "gateway/core/refreshing_cache.hpp"
#include "gateway/core/secret.hpp"
#include "gateway/core/time.hpp"
#include "gateway/http/authenticator.hpp"
#include "registry/key_store.hpp"
#include "registry/tenant_directory.hpp"

namespace sandgate::http {

// Authenticates API keys against the registry through a cache. A revocation takes effect at once
// through NOTIFY, and within a second without it. Expiry and the grace period of replaced secrets
// are checked on every use. While the database is unavailable, keys loaded within the last minute
// still work; others get Error(unavailable).
//
// X-Sandgate-Tenant lets an operator act for a tenant. Other callers may only name their own
// tenant. Any other id is Error(not_found), known or not, so that ids cannot be probed.
class KeyAuthenticator final : public Authenticator {
 public:
  using Cache = RefreshingCache<KeyGrant>;

  // Accepts `operator_secret` as an operator key without a database row; empty disables it.
  // Construct before notifications.start(). All references must outlive this object. Sets the
  // on_change callback of `keys`.
  KeyAuthenticator(KeyStore& keys, TenantDirectory& tenants, const Clock& clock,
                   const Secret& operator_secret, Notifications& notifications,
                   Cache::Options options = {});

  Task<Caller> authenticate(const Request& request) override;
  // Like authenticate() for a secret from another source, such as a cookie or a signed URL.
  Task<Caller> authenticate_secret(std::string secret, std::optional<std::string> tenant);

 private:
  std::optional<Caller> environment_operator(const std::string& secret) const;
  Caller caller_from(const KeyGrant* grant) const;

  TenantDirectory& tenants_;
  const Clock& clock_;
  std::string operator_hash_;  // empty: no operator secret configured
  Cache keys_;
};

}  // namespace sandgate::http
