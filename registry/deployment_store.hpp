#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/crypto.hpp"
#include "gateway/core/database.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/secret.hpp"
#include "gateway/core/time.hpp"
#include "registry/audit_log.hpp"

namespace sandgate {

using Credentials = std::map<std::string, Secret>;

// An account at a backend: the operator's, shared by all tenants, or a tenant's own.
struct DeploymentRow {
  std::string name;
  std::optional<TenantId> tenant;  // empty: the operator's
  std::string provider;
  Json settings = Json::object();
  Credentials credentials;
  bool sealed_by_other_key = false;  // `credentials` is empty, but some are stored
  bool enabled = true;
  int64_t weight = 100;
  int64_t version = 0;  // changes with every write, never reused
  Time created_at, updated_at;
};

// As in GET /v1/deployments: with the names of the credentials, never their values.
Json to_json(const DeploymentRow& row);

// The request of a PUT. Empty credentials keep the stored ones while the provider and all of
// addresses_in() stay the same.
struct DeploymentDraft {
  std::string name;
  std::optional<TenantId> tenant;
  std::string provider;
  Json settings = Json::object();
  std::optional<Credentials> credentials;
  bool enabled = true;
  int64_t weight = 100;
};

// NOTIFY channel of deployments; the payload is the name.
inline constexpr char kDeploymentsChannel[] = "deployments";

// Deployments in PostgreSQL. The cipher seals credentials under "deployment/<owner>/<name>".
class DeploymentStore {
 public:
  static constexpr int64_t kMaxPerTenant = 50;  // each is listed, measured and polled for ever

  // Called in the transaction that removes a deployment or changes its provider. Throws to refuse
  // where its sandboxes would become unreachable.
  using CheckUnused = std::function<void(pqxx::work& tx, const DeploymentRow& before)>;

  DeploymentStore(Database& database, const Cipher& cipher, CheckUnused check_unused = {})
      : database_(database), cipher_(cipher), check_unused_(std::move(check_unused)) {}

  // Creates or replaces a deployment. `check` sees the whole row, kept credentials included, before
  // it is written, and may throw. Throws Error(conflict) when the name is the operator's and a
  // tenant takes it, or the other way round, Error(quota_exceeded) beyond kMaxPerTenant, and
  // Error(invalid) when the credentials to keep are sealed by another master key, or were given for
  // another address.
  Task<DeploymentRow> put(DeploymentDraft draft, std::function<void(const DeploymentRow&)> check,
                          Actor actor);
  // Throws Error(not_found).
  Task<void> remove(std::optional<TenantId> tenant, std::string name, Actor actor);

  // Only that owner's: a tenant does not find the operator's.
  Task<std::optional<DeploymentRow>> find(std::optional<TenantId> tenant, std::string name);
  // By name, after `after`: a tenant's own and the operator's; without a tenant, the operator's.
  Task<std::vector<DeploymentRow>> list(std::optional<TenantId> tenant, std::string after,
                                        int64_t limit);
  // The deployments of all owners, for the gateway itself.
  Task<std::vector<DeploymentRow>> all();

 private:
  Database& database_;
  const Cipher& cipher_;
  const CheckUnused check_unused_;
};

}  // namespace sandgate
