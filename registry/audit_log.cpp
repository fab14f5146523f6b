#include "registry/audit_log.hpp"

#include "gateway/core/statement.hpp"
#include "registry/idempotency_effect.hpp"
#include "registry/sql.hpp"

namespace sandgate {

void audit(pqxx::work& tx, const AuditEntry& entry) {
  mark_effect(tx, entry.actor.claim, entry.object);
  tx.exec_params(
      "INSERT INTO audit_entry (tenant, key, key_name, role, action, object, before, after, "
      "request) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
      to_sql(entry.tenant), entry.actor.key_id, entry.actor.key_name, entry.actor.role,
      entry.action, entry.object, to_sql(entry.before), to_sql(entry.after),
      entry.actor.request_id);
}

std::vector<AuditRow> read_audit(pqxx::work& tx, const AuditFilter& filter) {
  plan_for_values(tx);
  const auto& before = filter.before;
  const auto rows = tx.exec_params(
      "SELECT id, at, tenant, key, key_name, role, action, object, before, after, request "
      "FROM audit_entry WHERE ($1::text IS NULL OR tenant = $1) "
      "AND ($2::text IS NULL OR action = $2) AND ($3::text IS NULL OR object = $3) "
      "AND ($4::text IS NULL OR key = $4) AND ($5::timestamptz IS NULL OR at >= $5) "
      "AND ($6::timestamptz IS NULL OR at < $6) "
      "AND ($7::timestamptz IS NULL OR (at, id) < ($7, $8::bigint)) "
      "ORDER BY at DESC, id DESC LIMIT $9",
      to_sql(filter.tenant), filter.action, filter.object, filter.key_id, to_sql(filter.from),
      to_sql(filter.to), before ? to_sql(std::optional(before->first)) : std::nullopt,
      before ? before->second : 0, filter.limit);
  std::vector<AuditRow> entries;
  for (const auto& row : rows)
    entries.push_back({.id = row["id"].as<int64_t>(),
                       .at = time_of(row["at"]),
                       .entry = {.actor = {.key_id = row["key"].as<std::string>(),
                                           .key_name = row["key_name"].as<std::string>(),
                                           .role = row["role"].as<std::string>(),
                                           .request_id = row["request"].as<std::string>()},
                                 .tenant = tenant_of(row["tenant"]),
                                 .action = row["action"].as<std::string>(),
                                 .object = row["object"].as<std::string>(),
                                 .before = json_of(row["before"]),
                                 .after = json_of(row["after"])}});
  return entries;
}

}  // namespace sandgate
