#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/core/database.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/secret.hpp"
#include "gateway/core/time.hpp"
#include "registry/audit_log.hpp"

namespace sandgate {

struct ApiKey {
  KeyId id;
  std::optional<TenantId> tenant;  // empty: an operator's key
  std::string name;
  std::string role;  // owner, admin, developer, billing, viewer, operator
  Time created_at;
  std::optional<Time> expires_at, revoked_at;
};

// As in GET /v1/keys and the audit trail; never the secret.
Json to_json(const ApiKey& key);

struct NewApiKey {
  ApiKey key;
  Secret secret;  // told once
};

// What authentication needs to know about one secret.
struct KeyGrant {
  ApiKey key;
  std::optional<Time> secret_valid_until;  // the end of a rotation's grace
};

// NOTIFY channel of keys: the payload is the hash of a secret that changed its meaning.
inline constexpr char kKeysChannel[] = "keys";

// Whether whoever has `own` may make, rotate or revoke a key of role `other`: nobody hands out more
// than he has. Operators may all.
bool may_grant(std::string_view own, std::string_view other);

// Keys and the hashes of their secrets, by row; no secret is kept.
class KeyStore {
 public:
  static constexpr int64_t kMostPerTenant = 1000;  // neither revoked nor expired
  static constexpr int64_t kMostSecrets = 16;  // of one key, those in their grace included

  explicit KeyStore(Database& database) : database_(database) {}

  // Called with the hash of each secret that changed its meaning through this object, before the
  // change is answered: this replica need not wait for its own NOTIFY. Set once, before use.
  void on_change(std::function<void(const std::string& hash)> changed) {
    changed_ = std::move(changed);
  }

  // Throws Error(not_found) for an unknown tenant and Error(quota_exceeded) when it has
  // kMostPerTenant. Role "operator" if and only if no tenant.
  Task<NewApiKey> create(std::optional<TenantId> tenant, std::string name, std::string role,
                         std::optional<Time> expires_at, Actor actor);
  // Keys of one tenant, or with an empty tenant all keys, oldest first; revoked ones included.
  Task<std::vector<ApiKey>> list(std::optional<TenantId> tenant,
                                 std::optional<std::pair<Time, std::string>> after, int64_t limit);
  Task<std::optional<ApiKey>> find(KeyId id);

  // A new secret for the same key; the old ones end after `grace`. Throws Error(not_found),
  // Error(conflict) for a revoked key, and Error(quota_exceeded) when it has kMostSecrets.
  Task<NewApiKey> rotate(KeyId id, std::chrono::seconds grace, Actor actor);
  // All of its secrets end now. Repeating it changes nothing. Throws Error(not_found).
  Task<void> revoke(KeyId id, Actor actor);

  // By api_secret_hash; empty for unknown and for revoked keys.
  Task<std::optional<KeyGrant>> find_by_hash(std::string hash);

 private:
  void tell(const std::vector<std::string>& hashes) const;

  Database& database_;
  std::function<void(const std::string& hash)> changed_;
};

}  // namespace sandgate
