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

// API keys from the registry, cached: a revocation counts at once where NOTIFY arrives and within a
// second where it does not; expiry and grace are looked at on every use. While the database is
// away, keys used within the last minute go on working and others are Error(unavailable).
//
// X-Sandgate-Tenant lets an operator act for a tenant. Others may send their own tenant; any other,
// known or not, is Error(not_found), so that nobody learns whose ids exist.
class KeyAuthenticator final : public Authenticator {
 public:
  using Cache = RefreshingCache<KeyGrant>;

  // `operator_secret` is accepted as an operator's without a row; empty: there is none. Before
  // notifications.start(); everything passed must outlive the authenticator. Takes keys' on_change.
  KeyAuthenticator(KeyStore& keys, TenantDirectory& tenants, const Clock& clock,
                   const Secret& operator_secret, Notifications& notifications,
                   Cache::Options options = {});

  Task<Caller> authenticate(const Request& request) override;
  // The same for a secret that came another way (a cookie, a signed address).
  Task<Caller> authenticate_secret(std::string secret, std::optional<std::string> tenant);

 private:
  std::optional<Caller> environment_operator(const std::string& secret) const;
  Caller caller_from(const KeyGrant* grant) const;

  TenantDirectory& tenants_;
  const Clock& clock_;
  std::string operator_hash_;  // empty: no operator key in the environment
  Cache keys_;
};

}  // namespace sandgate::http
