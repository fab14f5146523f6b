#include "registry/secret_store.hpp"

#include "gateway/core/random.hpp"
#include "registry/quota.hpp"
#include "registry/sql.hpp"

namespace sandgate {
namespace {

constexpr size_t kPlaceholderBytes = 20;
constexpr Quota kSecrets{"secrets", "SELECT count(*) FROM secret WHERE tenant = $1",
                         SecretStore::kMaxPerTenant};

std::string secret_context(const std::string& tenant, const std::string& name) {
  return "secret/" + tenant + "/" + name;
}

bool has_secret(pqxx::work& tx, const TenantId& tenant, const std::string& name) {
  return !tx.exec_params("SELECT FROM secret WHERE tenant = $1 AND name = $2", tenant.value, name)
              .empty();
}

void note_change(pqxx::work& tx, const Actor& actor, const TenantId& tenant,
                 const std::string& action, const std::string& name) {
  audit(tx, {.actor = actor, .tenant = tenant, .action = action, .object = name});
}

// A part of a revision; must be the text that the SQL of revisions_of() builds.
std::string revision_part(const pqxx::row& row) {
  return row["name"].as<std::string>() + ":" + row["version"].as<std::string>() + ";";
}

}  // namespace

Task<void> SecretStore::put(TenantId tenant, std::string name, Secret value, Actor actor) {
  return database_.run([=, this](pqxx::work& tx) {
    if (!has_secret(tx, tenant, name)) check_quota(tx, kSecrets, tenant.value);
    const std::string sealed = cipher_.seal(value, secret_context(tenant.value, name));
    tx.exec_params(
        "INSERT INTO secret (tenant, name, value) VALUES ($1, $2, $3) "
        "ON CONFLICT (tenant, name) DO UPDATE SET value = excluded.value, "
        "version = excluded.version, updated_at = now()",
        tenant.value, name, pqxx::binarystring(sealed));
    note_change(tx, actor, tenant, "secret.put", name);
  });
}

Task<void> SecretStore::remove(TenantId tenant, std::string name, Actor actor) {
  return database_.run([=, this](pqxx::work& tx) {
    const auto removed =
        tx.exec_params("DELETE FROM secret WHERE tenant = $1 AND name = $2", tenant.value, name);
    if (removed.affected_rows() == 0) throw Error::not_found("secret", name);
    note_change(tx, actor, tenant, "secret.remove", name);
  });
}

Task<std::vector<SecretRow>> SecretStore::list(TenantId tenant, std::string after, int64_t limit) {
  return database_.run([=](pqxx::work& tx) {
    std::vector<SecretRow> found;
    for (const auto& row : tx.exec_params("SELECT name, created_at, updated_at FROM secret "
                                          "WHERE tenant = $1 AND name > $2 ORDER BY name LIMIT $3",
                                          tenant.value, after, limit)) {
      found.push_back(
          {row["name"].as<std::string>(), time_of(row["created_at"]), time_of(row["updated_at"])});
    }
    return found;
  });
}

namespace sandbox_secrets {

BoundSecrets bind(pqxx::work& tx, const Cipher& cipher, const TenantId& tenant,
                  const std::string& sandbox, const std::vector<SecretBinding>& bindings,
                  OnMissing missing) {
  BoundSecrets bound;
  for (size_t i = 0; i < bindings.size(); ++i) {
    const SecretBinding& binding = bindings[i];
    if (missing == OnMissing::refused && !has_secret(tx, tenant, binding.name))
      throw Error::invalid("/secrets/" + std::to_string(i),
                           "there is no secret '" + binding.name + "'");
    const std::string placeholder = "sgs_" + random_hex(kPlaceholderBytes);
    tx.exec_params(
        "INSERT INTO sandbox_secret (sandbox, name, host, header, placeholder) "
        "VALUES ($1, $2, $3, $4, $5)",
        sandbox, binding.name, binding.host, binding.header, placeholder);
    bound.placeholders.emplace(binding.name, placeholder);
  }
  if (!bindings.empty()) bound.grants = grants_of(tx, cipher, sandbox);
  return bound;
}

SecretGrants grants_of(pqxx::work& tx, const Cipher& cipher, const std::string& sandbox) {
  SecretGrants secrets;
  for (const auto& row : tx.exec_params(
           "SELECT b.name, b.host, b.header, b.placeholder, s.tenant, s.value, s.version "
           "FROM sandbox_secret b JOIN sandbox x ON x.id = b.sandbox "
           "JOIN secret s ON s.tenant = x.tenant AND s.name = b.name "
           "WHERE b.sandbox = $1 ORDER BY b.name",
           sandbox)) {
    SecretGrant grant;
    grant.name = row["name"].as<std::string>();
    grant.host = row["host"].as<std::string>();
    grant.header = row["header"].as<std::string>();
    grant.placeholder = row["placeholder"].as<std::string>();
    grant.value = cipher.open(pqxx::binarystring(row["value"]).str(),
                              secret_context(row["tenant"].as<std::string>(), grant.name));
    secrets.revision += revision_part(row);
    secrets.grants.push_back(std::move(grant));
  }
  return secrets;
}

std::map<std::string, std::string> revisions_of(pqxx::work& tx,
                                                const std::vector<std::string>& sandboxes) {
  std::map<std::string, std::string> found;
  for (const auto& row : tx.exec_params(
           "SELECT b.sandbox, string_agg(b.name || ':' || s.version || ';', '' ORDER BY b.name) "
           "FROM sandbox_secret b JOIN sandbox x ON x.id = b.sandbox "
           "JOIN secret s ON s.tenant = x.tenant AND s.name = b.name "
           "WHERE b.sandbox IN (SELECT jsonb_array_elements_text($1::jsonb)) GROUP BY b.sandbox",
           Json(sandboxes).dump())) {
    found.emplace(row[0].as<std::string>(), row[1].as<std::string>());
  }
  return found;
}

}  // namespace sandbox_secrets
}  // namespace sandgate
