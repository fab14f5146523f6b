#include "registry/deployment_store.hpp"

#include "gateway/core/notifications.hpp"
#include "registry/quota.hpp"
#include "registry/setting_addresses.hpp"
#include "registry/sql.hpp"

namespace sandgate {
namespace {

constexpr Quota kDeployments{"deployments", "SELECT count(*) FROM deployment WHERE tenant = $1",
                             DeploymentStore::kMaxPerTenant};

constexpr char kDeploymentColumns[] =
    "tenant, name, provider, settings, credentials, enabled, weight, version, created_at, "
    "updated_at ";

std::string cipher_context(const std::optional<TenantId>& tenant, const std::string& name) {
  return "deployment/" + (tenant ? tenant->value : "operator") + "/" + name;
}

std::string sealed(const Cipher& cipher, const DeploymentRow& row) {
  Json document = Json::object();
  for (const auto& [name, value] : row.credentials) document[name] = value.reveal();
  return cipher.seal(Secret(document.dump()), cipher_context(row.tenant, row.name));
}

Credentials opened(const Cipher& cipher, const pqxx::field& field, const std::string& context) {
  const Secret text = cipher.open(pqxx::binarystring(field).str(), context);
  const Json document = Json::parse(text.reveal());
  Credentials credentials;
  for (const auto& [name, value] : document.items())
    credentials.emplace(name, Secret(value.get<std::string>()));
  return credentials;
}

DeploymentRow row_from(const Cipher& cipher, const pqxx::row& row) {
  DeploymentRow result{.name = row["name"].as<std::string>(),
                       .tenant = tenant_of(row["tenant"]),
                       .provider = row["provider"].as<std::string>(),
                       .settings = json_of(row["settings"]),
                       .enabled = row["enabled"].as<bool>(),
                       .weight = row["weight"].as<int64_t>(),
                       .version = row["version"].as<int64_t>(),
                       .created_at = time_of(row["created_at"]),
                       .updated_at = time_of(row["updated_at"])};
  // A row that cannot be opened must not hide the others.
  try {
    result.credentials =
        opened(cipher, row["credentials"], cipher_context(result.tenant, result.name));
  } catch (const Error&) {
    result.sealed_by_other_key = true;
  }
  return result;
}

std::vector<DeploymentRow> rows_from(const Cipher& cipher, const pqxx::result& rows) {
  std::vector<DeploymentRow> found;
  for (const auto& row : rows) found.push_back(row_from(cipher, row));
  return found;
}

std::optional<DeploymentRow> find_row(pqxx::work& tx, const Cipher& cipher,
                                      const std::optional<TenantId>& tenant,
                                      const std::string& name) {
  const auto rows =
      tx.exec_params(std::string("SELECT ") + kDeploymentColumns +
                         "FROM deployment WHERE name = $2 AND tenant IS NOT DISTINCT FROM $1",
                     to_sql(tenant), name);
  if (rows.empty()) return std::nullopt;
  return row_from(cipher, rows[0]);
}

// Serializes writers of a name across owners, so that refuse_shadow() holds until the commit. Also
// locks out creates that are being placed on a deployment of that name.
void lock_name(pqxx::work& tx, const std::string& name) {
  tx.exec_params("SELECT pg_advisory_xact_lock(hashtextextended('deployment/' || $1, 0))", name);
  tx.exec_params("SELECT FROM deployment WHERE name = $1 FOR UPDATE", name);
}

void refuse_shadow(pqxx::work& tx, const DeploymentDraft& draft) {
  const auto other = tx.exec_params(
      "SELECT FROM deployment WHERE name = $2 AND ($1::text IS NULL) <> (tenant IS NULL) LIMIT 1",
      to_sql(draft.tenant), draft.name);
  if (!other.empty())
    throw Error(ErrorCode::conflict, "the name '" + draft.name +
                                         "' is taken: a tenant's deployment "
                                         "and the operator's cannot have the same");
}

void write_row(pqxx::work& tx, const Cipher& cipher, const DeploymentRow& row) {
  Json names = Json::array();
  for (const auto& [name, unused] : row.credentials) names.push_back(name);
  const std::string secret = sealed(cipher, row);
  tx.exec_params(
      "INSERT INTO deployment (tenant, name, provider, settings, credential_names, credentials, "
      "enabled, weight) VALUES ($1, $2, $3, $4, "
      "ARRAY(SELECT jsonb_array_elements_text($5::jsonb)), $6, $7, $8) "
      "ON CONFLICT (tenant, name) DO UPDATE SET provider = excluded.provider, "
      "settings = excluded.settings, credential_names = excluded.credential_names, "
      "credentials = excluded.credentials, enabled = excluded.enabled, weight = excluded.weight, "
      "version = excluded.version, updated_at = now()",
      to_sql(row.tenant), row.name, row.provider, row.settings.dump(), names.dump(),
      pqxx::binarystring(secret), row.enabled, row.weight);
}

// Nobody reads stored credentials, so nobody may have them sent to an address of his own.
void check_not_redirected(const DeploymentRow& before, const DeploymentRow& wanted) {
  if (wanted.credentials.empty() || addresses_in(before.settings) == addresses_in(wanted.settings))
    return;
  throw Error::invalid("/credentials",
                       "are kept for the address that they were given with: with another one, "
                       "give them again");
}

// One of the rows is there: `before` of a removal, `after` of a new deployment, else both.
void record(pqxx::work& tx, const Actor& actor, std::string action,
            const std::optional<DeploymentRow>& before, const std::optional<DeploymentRow>& after) {
  const DeploymentRow& row = after ? *after : *before;
  audit(tx, {.actor = actor,
             .tenant = row.tenant,
             .action = std::move(action),
             .object = row.name,
             .before = before ? to_json(*before) : Json(),
             .after = after ? to_json(*after) : Json()});
  notify(tx, kDeploymentsChannel, row.name);
}

}  // namespace

Json to_json(const DeploymentRow& row) {
  Json names = Json::array();
  for (const auto& [name, unused] : row.credentials) names.push_back(name);
  return {{"name", row.name},
          {"tenant", row.tenant ? Json(row.tenant->value) : Json()},
          {"provider", row.provider},
          {"settings", row.settings},
          {"credential_names", names},
          {"enabled", row.enabled},
          {"weight", row.weight},
          {"version", row.version},
          {"created_at", to_rfc3339(row.created_at)},
          {"updated_at", to_rfc3339(row.updated_at)}};
}

Task<DeploymentRow> DeploymentStore::put(DeploymentDraft draft,
                                         std::function<void(const DeploymentRow&)> check,
                                         Actor actor) {
  return database_.run([this, draft = std::move(draft), check = std::move(check),
                        actor = std::move(actor)](pqxx::work& tx) {
    lock_name(tx, draft.name);
    refuse_shadow(tx, draft);
    const auto before = find_row(tx, cipher_, draft.tenant, draft.name);
    if (!before && draft.tenant) check_quota(tx, kDeployments, draft.tenant->value);
    if (before && check_unused_ && before->provider != draft.provider) check_unused_(tx, *before);
    DeploymentRow wanted{.name = draft.name,
                         .tenant = draft.tenant,
                         .provider = draft.provider,
                         .settings = draft.settings,
                         .enabled = draft.enabled,
                         .weight = draft.weight};
    if (draft.credentials)
      wanted.credentials = *draft.credentials;
    else if (before && before->sealed_by_other_key)
      throw Error::invalid(
          "/credentials",
          "are sealed with another master key: give them again, or restore that key");
    else if (before && before->provider == draft.provider)
      wanted.credentials = before->credentials;
    check(wanted);
    if (before && !draft.credentials) check_not_redirected(*before, wanted);
    write_row(tx, cipher_, wanted);
    const auto after = find_row(tx, cipher_, draft.tenant, draft.name);
    record(tx, actor, "deployment.put", before, after);
    return *after;
  });
}

Task<void> DeploymentStore::remove(std::optional<TenantId> tenant, std::string name, Actor actor) {
  return database_.run([=, this](pqxx::work& tx) {
    lock_name(tx, name);
    const auto before = find_row(tx, cipher_, tenant, name);
    if (!before) throw Error::not_found("deployment", name);
    if (check_unused_) check_unused_(tx, *before);
    tx.exec_params("DELETE FROM deployment WHERE name = $2 AND tenant IS NOT DISTINCT FROM $1",
                   to_sql(tenant), name);
    record(tx, actor, "deployment.remove", before, std::nullopt);
  });
}

Task<std::optional<DeploymentRow>> DeploymentStore::find(std::optional<TenantId> tenant,
                                                         std::string name) {
  return database_.run([=, this](pqxx::work& tx) { return find_row(tx, cipher_, tenant, name); });
}

Task<std::vector<DeploymentRow>> DeploymentStore::list(std::optional<TenantId> tenant,
                                                       std::string after, int64_t limit) {
  return database_.run([=, this](pqxx::work& tx) {
    const auto rows = tx.exec_params(std::string("SELECT ") + kDeploymentColumns +
                                         "FROM deployment WHERE name > $2 AND (tenant = $1 OR "
                                         "tenant IS NULL) ORDER BY name LIMIT $3",
                                     to_sql(tenant), after, limit);
    return rows_from(cipher_, rows);
  });
}

Task<std::vector<DeploymentRow>> DeploymentStore::all() {
  return database_.run([this](pqxx::work& tx) {
    const auto rows =
        tx.exec(std::string("SELECT ") + kDeploymentColumns + "FROM deployment ORDER BY name");
    return rows_from(cipher_, rows);
  });
}

}  // namespace sandgate
