#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/crypto.hpp"
#include "gateway/core/database.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"
#include "providers/sandbox.hpp"
#include "registry/audit_log.hpp"

namespace sandgate {

// A tenant's secret without its value.
struct SecretRow {
  std::string name;
  Time created_at, updated_at;
};

// Secrets in PostgreSQL. The cipher seals their values under "secret/<tenant>/<name>".
class SecretStore {
 public:
  static constexpr int64_t kMaxPerTenant = 1000;

  SecretStore(Database& database, const Cipher& cipher) : database_(database), cipher_(cipher) {}

  // Creates a secret or replaces its value, also for running sandboxes. Throws
  // Error(quota_exceeded).
  Task<void> put(TenantId tenant, std::string name, Secret value, Actor actor);
  // Throws Error(not_found).
  Task<void> remove(TenantId tenant, std::string name, Actor actor);
  // By name, after `after`.
  Task<std::vector<SecretRow>> list(TenantId tenant, std::string after, int64_t limit);

 private:
  Database& database_;
  const Cipher& cipher_;
};

// The bindings of sandboxes to secrets, in the caller's transaction.
namespace sandbox_secrets {

// The result of binding a sandbox to its secrets.
struct BoundSecrets {
  SecretGrants grants;
  std::map<std::string, std::string> placeholders;  // by name, including secrets without a value
};

// How bind() treats a secret that the tenant does not have.
enum class OnMissing {
  refused,  // Error(invalid) with "/secrets/<n>"
  empty,  // a placeholder without a value until there is one
};

// Stores the bindings of a new sandbox, each with a new placeholder. Throws as `missing` says.
BoundSecrets bind(pqxx::work& tx, const Cipher& cipher, const TenantId& tenant,
                  const std::string& sandbox, const std::vector<SecretBinding>& bindings,
                  OnMissing missing);
// The present values behind a sandbox's placeholders, without removed secrets.
SecretGrants grants_of(pqxx::work& tx, const Cipher& cipher, const std::string& sandbox);
// The `revision` that grants_of() has now, of each of the sandboxes that has grants.
std::map<std::string, std::string> revisions_of(pqxx::work& tx,
                                                const std::vector<std::string>& sandboxes);

}  // namespace sandbox_secrets
}  // namespace sandgate
