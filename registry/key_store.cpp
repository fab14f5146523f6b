#include "registry/key_store.hpp"

#include "gateway/core/notifications.hpp"
#include "gateway/core/sql_time.hpp"
#include "gateway/core/statement.hpp"
#include "gateway/core/time_json.hpp"
#include "registry/api_secret.hpp"
#include "registry/quota.hpp"
#include "registry/sql.hpp"

namespace sandgate {
namespace {

constexpr Quota kLiveKeys{"keys that are valid",
                          "SELECT count(*) FROM api_key WHERE tenant = $1 AND revoked_at IS NULL"
                          " AND (expires_at IS NULL OR expires_at > now())",
                          KeyStore::kMaxPerTenant};
constexpr Quota kSecretsOfKey{"secrets of a key at once: older ones are in their grace",
                              "SELECT count(*) FROM api_key_secret WHERE key = $1"
                              " AND (valid_until IS NULL OR valid_until > now())",
                              KeyStore::kMaxSecrets};
constexpr char kKeyColumns[] =
    "api_key.id, api_key.tenant, api_key.name, role, api_key.created_at, expires_at, revoked_at ";

ApiKey key_from(const pqxx::row& row) {
  const auto role = kRoleWords.find(row["role"].as<std::string>());
  if (!role) throw Error(ErrorCode::internal, "a key has an unknown role");
  return {.id = KeyId{row["id"].as<std::string>()},
          .tenant = tenant_of(row["tenant"]),
          .name = row["name"].as<std::string>(),
          .role = *role,
          .created_at = time_of(row["created_at"]),
          .expires_at = optional_time_of(row["expires_at"]),
          .revoked_at = optional_time_of(row["revoked_at"])};
}

ApiKey locked_key(pqxx::work& tx, const KeyId& id) {
  const auto rows = tx.exec_params(
      std::string("SELECT ") + kKeyColumns + "FROM api_key WHERE id = $1 FOR NO KEY UPDATE",
      id.value);
  if (rows.empty()) throw Error::not_found("key", id.value);
  return key_from(rows[0]);
}

void add_secret(pqxx::work& tx, const KeyId& id, const Secret& secret) {
  tx.exec_params("INSERT INTO api_key_secret (hash, key) VALUES ($1, $2)",
                 *api_secret_hash(secret.reveal()), id.value);
}

// Notifies the other replicas; returns the hashes it sent.
std::vector<std::string> notify_secrets(pqxx::work& tx, const KeyId& id) {
  std::vector<std::string> hashes;
  for (const auto& row : tx.exec_params("SELECT hash FROM api_key_secret WHERE key = $1", id.value))
    notify(tx, kKeysChannel, hashes.emplace_back(row[0].as<std::string>()));
  return hashes;
}

void record(pqxx::work& tx, const Actor& actor, std::string action, const ApiKey& key, Json before,
            Json after) {
  audit(tx, {.actor = actor,
             .tenant = key.tenant,
             .action = std::move(action),
             .object = key.id.value,
             .before = std::move(before),
             .after = std::move(after)});
}

}  // namespace

Json to_json(const ApiKey& key) {
  return {{"id", key.id.value},
          {"tenant", key.tenant ? Json(key.tenant->value) : Json()},
          {"name", key.name},
          {"role", to_string(key.role)},
          {"created_at", to_rfc3339(key.created_at)},
          {"expires_at", time_json(key.expires_at)},
          {"revoked_at", time_json(key.revoked_at)}};
}

Task<NewApiKey> KeyStore::create(std::optional<TenantId> tenant, std::string name, Role role,
                                 std::optional<Time> expires_at, Actor actor) {
  const KeyId id = KeyId::make();
  const Secret secret = make_api_secret();
  return database_.run([=](pqxx::work& tx) {
    if (tenant && tx.exec_params("SELECT FROM tenant WHERE id = $1", tenant->value).empty())
      throw Error::not_found("tenant", tenant->value);
    if (tenant) check_quota(tx, kLiveKeys, tenant->value);
    const auto row = tx.exec_params1(
        std::string("INSERT INTO api_key (id, tenant, name, role, expires_at) "
                    "VALUES ($1, $2, $3, $4, $5) RETURNING ") +
            kKeyColumns,
        id.value, to_sql(tenant), name, std::string(to_string(role)), to_sql(expires_at));
    const ApiKey key = key_from(row);
    add_secret(tx, id, secret);
    record(tx, actor, "key.create", key, nullptr, to_json(key));
    return NewApiKey{key, secret};
  });
}

Task<std::vector<ApiKey>> KeyStore::list(std::optional<TenantId> tenant,
                                         std::optional<std::pair<Time, std::string>> after,
                                         int64_t limit) {
  return database_.run([=](pqxx::work& tx) {
    plan_for_values(tx);
    const auto time = after ? to_sql(std::optional(after->first)) : std::nullopt;
    const auto rows =
        tx.exec_params(std::string("SELECT ") + kKeyColumns +
                           "FROM api_key WHERE ($1::text IS NULL OR tenant = $1) "
                           "AND ($2::timestamptz IS NULL OR (created_at, id) > ($2, $3)) "
                           "ORDER BY created_at, id LIMIT $4",
                       to_sql(tenant), time, after ? after->second : "", limit);
    std::vector<ApiKey> keys;
    for (const auto& row : rows) keys.push_back(key_from(row));
    return keys;
  });
}

Task<std::optional<ApiKey>> KeyStore::find(KeyId id) {
  return database_.run([=](pqxx::work& tx) -> std::optional<ApiKey> {
    const auto rows = tx.exec_params(
        std::string("SELECT ") + kKeyColumns + "FROM api_key WHERE id = $1", id.value);
    if (rows.empty()) return std::nullopt;
    return key_from(rows[0]);
  });
}

void KeyStore::notify_changed(const std::vector<std::string>& hashes) const {
  if (!changed_) return;
  for (const auto& hash : hashes) changed_(hash);
}

Task<NewApiKey> KeyStore::rotate(KeyId id, std::chrono::seconds grace, Actor actor) {
  const Secret secret = make_api_secret();
  auto work = [=](pqxx::work& tx) {
    const ApiKey key = locked_key(tx, id);
    if (key.revoked_at) throw Error(ErrorCode::conflict, "a revoked key cannot be rotated");
    if (key.expires_at && *key.expires_at <= database_now(tx))
      throw Error(ErrorCode::conflict, "a key that has expired cannot be rotated");
    auto hashes = notify_secrets(tx, id);
    // Without grace they are removed: this gateway's clock may be behind the database's.
    tx.exec_params("DELETE FROM api_key_secret WHERE key = $1 AND ($2 = 0 OR valid_until < now())",
                   id.value, grace.count());
    // An earlier rotation's grace is never made longer by a later one.
    tx.exec_params(
        "UPDATE api_key_secret SET valid_until = "
        "least(valid_until, now() + $2 * interval '1 second') WHERE key = $1",
        id.value, grace.count());
    check_quota(tx, kSecretsOfKey, id.value);
    add_secret(tx, id, secret);
    record(tx, actor, "key.rotate", key, nullptr, {{"grace_seconds", grace.count()}});
    return std::pair(NewApiKey{key, secret}, std::move(hashes));
  };
  auto running = database_.run(std::move(work));
  const auto [made, hashes] = co_await std::move(running);
  notify_changed(hashes);
  co_return made;
}

Task<void> KeyStore::revoke(KeyId id, Actor actor) {
  auto work = [=](pqxx::work& tx) {
    const ApiKey before = locked_key(tx, id);
    if (before.revoked_at) return std::vector<std::string>{};
    tx.exec_params("UPDATE api_key SET revoked_at = now() WHERE id = $1", id.value);
    record(tx, actor, "key.revoke", before, to_json(before), to_json(locked_key(tx, id)));
    return notify_secrets(tx, id);
  };
  auto running = database_.run(std::move(work));
  const auto hashes = co_await std::move(running);
  notify_changed(hashes);
}

Task<std::optional<KeyGrant>> KeyStore::find_by_hash(std::string hash) {
  static const std::string kSql =
      std::string("SELECT ") + kKeyColumns +
      ", valid_until FROM api_key_secret JOIN api_key ON api_key.id = key "
      "WHERE hash = $1 AND revoked_at IS NULL";
  return database_.run_statement([=](pqxx::nontransaction& read) -> std::optional<KeyGrant> {
    const auto rows = run_prepared(read, kSql, hash);
    if (rows.empty()) return std::nullopt;
    return KeyGrant{.key = key_from(rows[0]),
                    .secret_valid_until = optional_time_of(rows[0]["valid_until"])};
  });
}

}  // namespace sandgate
