#include "registry/profile_rows.hpp"

#include "registry/profile_parse.hpp"
#include "registry/sql.hpp"

namespace sandgate::profile_rows {
namespace {

constexpr char kHead[] =
    "id, tenant, name, latest, created_at, (SELECT coalesce(jsonb_object_agg(channel, "
    "jsonb_build_object('version', version, 'canary', canary_version, 'percent', canary_percent, "
    "'shadow', shadow_version, 'shadow_percent', shadow_percent)), '{}') FROM profile_channel "
    "WHERE profile = profile.id) AS channels, (SELECT document->>'description' FROM "
    "profile_channel JOIN profile_version USING (profile, version) WHERE profile = profile.id "
    "AND channel = 'stable') AS description ";

ProfileHead head_from(const pqxx::row& row) {
  ProfileHead head{.id = row["id"].as<int64_t>(),
                   .owner = tenant_of(row["tenant"]),
                   .name = row["name"].as<std::string>(),
                   .latest = row["latest"].as<int64_t>(),
                   .created_at = time_of(row["created_at"])};
  if (const auto text = row["description"]; !text.is_null())
    head.description = text.as<std::string>();
  const Json channels = json_of(row["channels"]);
  for (const auto& [name, value] : channels.items()) {
    ProfileChannel channel{.version = value.at("version").get<int64_t>()};
    if (!value.at("canary").is_null())
      channel.canary =
          Canary{value.at("canary").get<int64_t>(), value.at("percent").get<int64_t>()};
    if (!value.at("shadow").is_null())
      channel.shadow =
          Shadow{value.at("shadow").get<int64_t>(), value.at("shadow_percent").get<int64_t>()};
    head.channels[name] = channel;
  }
  return head;
}

ProfileVersion version_from(const pqxx::row& row) {
  try {
    return {.version = row["version"].as<int64_t>(),
            .created_at = time_of(row["created_at"]),
            .created_by = row["created_by"].as<std::string>(),
            .profile = parse_profile(json_of(row["document"]))};
  } catch (const Error& error) {
    // A newer Sandgate wrote it: the caller's request is not invalid.
    throw Error(ErrorCode::internal,
                std::string("a stored profile is unreadable: ") + error.what());
  }
}

// Publishing one version must not bring others into force again.
void forget_channels_of_archived(pqxx::work& tx, const std::optional<TenantId>& owner,
                                 const std::string& name) {
  tx.exec_params(
      "WITH archived AS (SELECT id FROM profile WHERE name = $2 "
      "AND tenant IS NOT DISTINCT FROM $1 AND archived_at IS NOT NULL FOR UPDATE) "
      "DELETE FROM profile_channel USING archived WHERE profile = archived.id",
      to_sql(owner), name);
}

Error no_own_profile(pqxx::work& tx, const std::optional<TenantId>& owner,
                     const std::string& name) {
  const bool shared = owner && find(tx, std::nullopt, name);
  if (!shared) return Error::not_found("profile", name);
  return Error(ErrorCode::not_found,
               "the tenant has no profile '" + name +
                   "' of its own, and only the operator changes the shared one: "
                   "publish one of that name, which takes its place for you");
}

}  // namespace

std::optional<ProfileHead> find(pqxx::work& tx, const std::optional<TenantId>& tenant,
                                const std::string& name) {
  const auto rows =
      tx.exec_params(std::string("SELECT ") + kHead +
                         "FROM profile WHERE name = $2 AND (tenant = $1 OR tenant IS NULL) "
                         "AND archived_at IS NULL ORDER BY tenant NULLS LAST LIMIT 1",
                     to_sql(tenant), name);
  if (rows.empty()) return std::nullopt;
  return head_from(rows[0]);
}

std::optional<ProfileHead> find_with_archived(pqxx::work& tx, const std::optional<TenantId>& tenant,
                                              const std::string& name) {
  const auto rows =
      tx.exec_params(std::string("SELECT ") + kHead +
                         "FROM profile WHERE name = $2 AND (tenant = $1 OR tenant IS NULL) "
                         "ORDER BY archived_at IS NOT NULL, tenant NULLS LAST LIMIT 1",
                     to_sql(tenant), name);
  if (rows.empty()) return std::nullopt;
  return head_from(rows[0]);
}

std::vector<ProfileHead> list(pqxx::work& tx, const std::optional<TenantId>& tenant,
                              const std::string& after, int64_t limit) {
  const auto rows =
      tx.exec_params(std::string("SELECT DISTINCT ON (name) ") + kHead +
                         "FROM profile WHERE name > $2 AND (tenant = $1 OR tenant IS NULL) "
                         "AND archived_at IS NULL ORDER BY name, tenant NULLS LAST LIMIT $3",
                     to_sql(tenant), after, limit);
  std::vector<ProfileHead> heads;
  for (const auto& row : rows) heads.push_back(head_from(row));
  return heads;
}

std::optional<ProfileVersion> version(pqxx::work& tx, int64_t profile_id, int64_t version) {
  const auto rows = tx.exec_params(
      "SELECT version, document, created_by, created_at FROM profile_version "
      "WHERE profile = $1 AND version = $2",
      profile_id, version);
  if (rows.empty()) return std::nullopt;
  return version_from(rows[0]);
}

std::vector<ListedVersion> versions(pqxx::work& tx, int64_t profile_id,
                                    std::optional<int64_t> below, int64_t limit) {
  const auto rows = tx.exec_params(
      "SELECT version, created_by, created_at FROM profile_version "
      "WHERE profile = $1 AND ($2::bigint IS NULL OR version < $2) ORDER BY version DESC LIMIT $3",
      profile_id, below, limit);
  std::vector<ListedVersion> found;
  for (const auto& row : rows)
    found.push_back({.version = row["version"].as<int64_t>(),
                     .created_at = time_of(row["created_at"]),
                     .created_by = row["created_by"].as<std::string>()});
  return found;
}

ProfileHead lock_existing(pqxx::work& tx, const std::optional<TenantId>& owner,
                          const std::string& name) {
  const auto rows =
      tx.exec_params(std::string("SELECT ") + kHead +
                         "FROM profile WHERE name = $2 AND tenant IS NOT DISTINCT FROM $1 "
                         "AND archived_at IS NULL FOR UPDATE",
                     to_sql(owner), name);
  if (rows.empty()) throw no_own_profile(tx, owner, name);
  return head_from(rows[0]);
}

ProfileHead lock_or_create(pqxx::work& tx, const std::optional<TenantId>& owner,
                           const std::string& name) {
  forget_channels_of_archived(tx, owner, name);
  tx.exec_params(
      "INSERT INTO profile (tenant, name) VALUES ($1, $2) "
      "ON CONFLICT (tenant, name) DO UPDATE SET archived_at = NULL",
      to_sql(owner), name);
  return lock_existing(tx, owner, name);
}

std::string hash_of(pqxx::work& tx, int64_t profile_id, int64_t version) {
  const auto rows =
      tx.exec_params("SELECT content_hash FROM profile_version WHERE profile = $1 AND version = $2",
                     profile_id, version);
  return rows.empty() ? "" : rows[0][0].as<std::string>();
}

void add_version(pqxx::work& tx, const ProfileHead& head, const Profile& profile,
                 const std::string& created_by) {
  tx.exec_params(
      "INSERT INTO profile_version (profile, version, document, content_hash, created_by) "
      "VALUES ($1, $2, $3, $4, $5)",
      head.id, head.latest + 1, to_json(profile).dump(), content_hash(profile), created_by);
  tx.exec_params("UPDATE profile SET latest = $2 WHERE id = $1", head.id, head.latest + 1);
}

void set_channel(pqxx::work& tx, int64_t profile_id, const std::string& name,
                 const ProfileChannel& channel) {
  const auto version_in = [](const auto& share) {
    return share ? std::optional(share->version) : std::nullopt;
  };
  const auto percent_in = [](const auto& share) {
    return share ? std::optional(share->percent) : std::nullopt;
  };
  tx.exec_params(
      "INSERT INTO profile_channel (profile, channel, version, canary_version, canary_percent, "
      "shadow_version, shadow_percent) VALUES ($1, $2, $3, $4, $5, $6, $7) "
      "ON CONFLICT (profile, channel) DO UPDATE SET version = $3, canary_version = $4, "
      "canary_percent = $5, shadow_version = $6, shadow_percent = $7, updated_at = now()",
      profile_id, name, channel.version, version_in(channel.canary), percent_in(channel.canary),
      version_in(channel.shadow), percent_in(channel.shadow));
}

void set_archived(pqxx::work& tx, int64_t profile_id) {
  tx.exec_params("UPDATE profile SET archived_at = now() WHERE id = $1", profile_id);
}

}  // namespace sandgate::profile_rows
