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
#include "registry/role.hpp"

namespace sandgate {

struct ApiKey {
  KeyId id;
  std::optional<TenantId> tenant;  // empty: an operator's key
  std::string name;
  Role role = Role::viewer;
  Time created_at;
  std::optional<Time> expires_at, revoked_at;
};

// As in GET /v1/keys and the audit trail; never the secret.
Json to_json(const ApiKey& key);

struct NewApiKey {
  ApiKey key;
  Secret secret;  // not stored, returned only here
};

// The key that a secret belongs to, for authentication.
struct KeyGrant {
  ApiKey key;
  std::optional<Time> secret_valid_until;  // end of the grace period after a rotation
};

// NOTIFY channel of keys; the payload is the hash of a secret whose grant changed.
inline constexpr char kKeysChannel[] = "keys";

// API keys and the hashes of their secrets in PostgreSQL; secrets themselves are not stored.
class KeyStore {
 public:
  static constexpr int64_t kMaxPerTenant = 1000;  // keys neither revoked nor expired
  static constexpr int64_t kMaxSecrets = 16;  // of one key, including those in a grace period

  explicit KeyStore(Database& database) : database_(database) {}

  // Sets a callback for the hash of each secret whose grant changed through this object. It runs
  // before the change is answered, so this replica need not wait for its own NOTIFY. Set once,
  // before use.
  void on_change(std::function<void(const std::string& hash)> changed) {
    changed_ = std::move(changed);
  }

  // Creates a key with its first secret. It is an operator's if and only if `tenant` is empty.
  // Throws Error(not_found) for an unknown tenant and Error(quota_exceeded) when it has
  // kMaxPerTenant keys.
  Task<NewApiKey> create(std::optional<TenantId> tenant, std::string name, Role role,
                         std::optional<Time> expires_at, Actor actor);
  // Keys of one tenant, or of all when empty, revoked ones included, oldest first and after
  // (created_at, id) when given.
  Task<std::vector<ApiKey>> list(std::optional<TenantId> tenant,
                                 std::optional<std::pair<Time, std::string>> after, int64_t limit);
  Task<std::optional<ApiKey>> find(KeyId id);

  // Adds a new secret to a key; the old ones end after `grace` at the latest, and with it if there
  // is none. Throws Error(not_found), Error(conflict) for a revoked key, and Error(quota_exceeded)
  // when it has kMaxSecrets.
  Task<NewApiKey> rotate(KeyId id, std::chrono::seconds grace, Actor actor);
  // Ends all secrets of a key now. Idempotent. Throws Error(not_found).
  Task<void> revoke(KeyId id, Actor actor);

  // Finds a key by api_secret_hash(); empty for an unknown secret or a revoked key.
  Task<std::optional<KeyGrant>> find_by_hash(std::string hash);

 private:
  void notify_changed(const std::vector<std::string>& hashes) const;

  Database& database_;
  std::function<void(const std::string& hash)> changed_;
};

}  // namespace sandgate
