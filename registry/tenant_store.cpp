#include "registry/tenant_store.hpp"

#include "gateway/core/notifications.hpp"
#include "gateway/core/statement.hpp"
#include "registry/profile.hpp"
#include "registry/sql.hpp"

namespace sandgate {
namespace {

constexpr char kColumns[] =
    "id, name, suspended, max_running, max_milli_vcpu, creates_per_minute, requests_per_second, "
    "created_at ";

TenantLimits limits_of(const pqxx::row& row) {
  const auto read = [&](const char* column) -> std::optional<int64_t> {
    if (row[column].is_null()) return std::nullopt;
    return row[column].as<int64_t>();
  };
  return {.max_running = read("max_running"),
          .max_milli_vcpu = read("max_milli_vcpu"),
          .creates_per_minute = read("creates_per_minute"),
          .requests_per_second = read("requests_per_second")};
}

Tenant tenant_from(const pqxx::row& row) {
  return {.id = TenantId{row["id"].as<std::string>()},
          .name = row["name"].as<std::string>(),
          .suspended = row["suspended"].as<bool>(),
          .limits = limits_of(row),
          .created_at = time_of(row["created_at"])};
}

// Locks the row until the transaction ends.
Tenant locked_tenant(pqxx::work& tx, const TenantId& id) {
  const auto rows = tx.exec_params(
      std::string("SELECT ") + kColumns + "FROM tenant WHERE id = $1 FOR NO KEY UPDATE", id.value);
  if (rows.empty()) throw Error::not_found("tenant", id.value);
  return tenant_from(rows[0]);
}

void record(pqxx::work& tx, const Actor& actor, std::string action, const TenantId& id, Json before,
            Json after) {
  audit(tx, {.actor = actor,
             .tenant = id,
             .action = std::move(action),
             .object = id.value,
             .before = std::move(before),
             .after = std::move(after)});
  notify(tx, kTenantsChannel, id.value);
}

Json or_null(const std::optional<int64_t>& value) { return value ? Json(*value) : Json(); }

}  // namespace

Json to_json(const TenantLimits& limits) {
  return {{"max_running", or_null(limits.max_running)},
          {"max_vcpu", limits.max_milli_vcpu ? vcpu_json(*limits.max_milli_vcpu) : Json()},
          {"creates_per_minute", or_null(limits.creates_per_minute)},
          {"requests_per_second", or_null(limits.requests_per_second)}};
}

Json to_json(const Tenant& tenant) {
  return {{"id", tenant.id.value},
          {"name", tenant.name},
          {"suspended", tenant.suspended},
          {"limits", to_json(tenant.limits)},
          {"created_at", to_rfc3339(tenant.created_at)}};
}

TenantLimits tenant_limits(pqxx::work& tx, const TenantId& id) {
  const auto rows = run_prepared(
      tx,
      "SELECT max_running, max_milli_vcpu, creates_per_minute, requests_per_second FROM tenant "
      "WHERE id = $1",
      id.value);
  if (rows.empty()) throw Error::not_found("tenant", id.value);
  return limits_of(rows[0]);
}

Task<Tenant> TenantStore::create(std::string name, Actor actor) {
  const TenantId id = TenantId::make();
  return database_.run([=](pqxx::work& tx) {
    const auto row = tx.exec_params1(
        std::string("INSERT INTO tenant (id, name) VALUES ($1, $2) RETURNING ") + kColumns,
        id.value, name);
    const Tenant tenant = tenant_from(row);
    record(tx, actor, "tenant.create", id, nullptr, to_json(tenant));
    return tenant;
  });
}

Task<std::optional<Tenant>> TenantStore::find(TenantId id) {
  static const std::string kSql = std::string("SELECT ") + kColumns + "FROM tenant WHERE id = $1";
  return database_.run_statement([=](pqxx::nontransaction& read) -> std::optional<Tenant> {
    const auto rows = run_prepared(read, kSql, id.value);
    if (rows.empty()) return std::nullopt;
    return tenant_from(rows[0]);
  });
}

Task<std::vector<Tenant>> TenantStore::list(std::optional<std::pair<Time, std::string>> after,
                                            int64_t limit) {
  return database_.run([=](pqxx::work& tx) {
    const auto time = after ? to_sql(std::optional(after->first)) : std::nullopt;
    const auto rows = tx.exec_params(
        std::string("SELECT ") + kColumns +
            "FROM tenant WHERE $1::timestamptz IS NULL OR (created_at, id) > ($1, $2) "
            "ORDER BY created_at, id LIMIT $3",
        time, after ? after->second : "", limit);
    std::vector<Tenant> tenants;
    for (const auto& row : rows) tenants.push_back(tenant_from(row));
    return tenants;
  });
}

Task<Tenant> TenantStore::notify_after(Task<Tenant> changing) {
  Tenant tenant = co_await std::move(changing);
  if (changed_) changed_(tenant.id.value);
  co_return tenant;
}

Task<Tenant> TenantStore::change(TenantId id, TenantChange change, Actor actor) {
  return notify_after(database_.run([=](pqxx::work& tx) {
    const Tenant before = locked_tenant(tx, id);
    Tenant after = before;
    after.name = change.name.value_or(before.name);
    after.suspended = change.suspended.value_or(before.suspended);
    tx.exec_params("UPDATE tenant SET name = $2, suspended = $3 WHERE id = $1", id.value,
                   after.name, after.suspended);
    record(tx, actor, "tenant.change", id, to_json(before), to_json(after));
    return after;
  }));
}

Task<Tenant> TenantStore::set_limits(TenantId id, TenantLimits limits, Actor actor) {
  return notify_after(database_.run([=](pqxx::work& tx) {
    const Tenant before = locked_tenant(tx, id);
    Tenant after = before;
    after.limits = limits;
    tx.exec_params(
        "UPDATE tenant SET max_running = $2, max_milli_vcpu = $3, creates_per_minute = $4, "
        "requests_per_second = $5 WHERE id = $1",
        id.value, limits.max_running, limits.max_milli_vcpu, limits.creates_per_minute,
        limits.requests_per_second);
    record(tx, actor, "tenant.limits", id, to_json(before.limits), to_json(limits));
    return after;
  }));
}

}  // namespace sandgate
