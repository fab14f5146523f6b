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

// An account at a backend: the operator's, shared by all, or a tenant's own.
struct DeploymentRow {
  std::string name;
  std::optional<TenantId> tenant;  // empty: the operator's
  std::string provider;
  Json settings = Json::object();
  Credentials credentials;
  bool sealed_away = false;  // by another master key: `credentials` is empty and not what they are
  bool enabled = true;
  int64_t weight = 100;
  int64_t version = 0;  // another one after each change; never the same twice
  Time created_at, updated_at;
};

// As in GET /v1/deployments: the names of its credentials, never their values.
Json to_json(const DeploymentRow& row);

// What a PUT asks for; empty credentials keep those there are while the provider stays the same.
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

// Deployments in PostgreSQL, credentials sealed by the vault under "deployment/<owner>/<name>".
class DeploymentStore {
 public:
  static constexpr int64_t kMostPerTenant = 50;  // each is listed, measured and asked for ever

  // In the transaction that removes a deployment or makes it one of another provider: may throw.
  using Farewell = std::function<void(pqxx::work& tx, const DeploymentRow& before)>;

  // `farewell` is asked before sandboxes there could not be reached any more.
  DeploymentStore(Database& database, const Vault& vault, Farewell farewell = {})
      : database_(database), vault_(vault), farewell_(std::move(farewell)) {}

  // Throws Error(conflict) when a tenant takes the operator's name or the other way round, and
  // Error(quota_exceeded) when it has kMostPerTenant. `check` sees the whole row, kept credentials
  // included, before it is written, and may throw.
  Task<DeploymentRow> put(DeploymentDraft draft, std::function<void(const DeploymentRow&)> check,
                          Actor actor);
  // Throws Error(not_found).
  Task<void> remove(std::optional<TenantId> tenant, std::string name, Actor actor);

  // Exactly that owner's.
  Task<std::optional<DeploymentRow>> find(std::optional<TenantId> tenant, std::string name);
  // By name, after `after`: the tenant's own and the operator's; without a tenant, the operator's.
  Task<std::vector<DeploymentRow>> list(std::optional<TenantId> tenant, std::string after,
                                        int64_t limit);
  // Everybody's, for the gateway itself.
  Task<std::vector<DeploymentRow>> all();

 private:
  Database& database_;
  const Vault& vault_;
  const Farewell farewell_;
};

}  // namespace sandgate
