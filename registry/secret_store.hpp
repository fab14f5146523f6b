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

// Secrets in PostgreSQL, values sealed by the vault under "secret/<tenant>/<name>".
class SecretStore {
 public:
  static constexpr int64_t kMaxPerTenant = 1000;

  SecretStore(Database& database, const Vault& vault) : database_(database), vault_(vault) {}

  // A new one or a new value; running sandboxes follow. Throws Error(quota_exceeded).
  Task<void> put(TenantId tenant, std::string name, Secret value, Actor actor);
  // Throws Error(not_found).
  Task<void> remove(TenantId tenant, std::string name, Actor actor);
  // By name, after `after`.
  Task<std::vector<SecretRow>> list(TenantId tenant, std::string after, int64_t limit);

 private:
  Database& database_;
  const Vault& vault_;
};

// Which sandboxes show which secrets, in the caller's transaction.
namespace sandbox_secrets {

// What a sandbox gets of the secrets that it lists.
struct Bound {
  SecretGrants grants;
  std::map<std::string, std::string> placeholders;  // by name, also of those without a value
};

// What becomes of a binding to a secret that the tenant does not have.
enum class Missing {
  refused,  // Error(invalid) with "/secrets/<n>"
  empty,  // a placeholder that stands for nothing until there is one
};

// Gives each binding a new placeholder.
Bound bind(pqxx::work& tx, const Vault& vault, const TenantId& tenant, const std::string& sandbox,
           const std::vector<SecretBinding>& bindings, Missing missing);
// What a sandbox's placeholders stand for now; those of removed secrets are left out.
SecretGrants grants_of(pqxx::work& tx, const Vault& vault, const std::string& sandbox);
// The revisions of grants_of() for those of the sandboxes that have any.
std::map<std::string, std::string> revisions_of(pqxx::work& tx,
                                                const std::vector<std::string>& sandboxes);

}  // namespace sandbox_secrets
}  // namespace sandgate
