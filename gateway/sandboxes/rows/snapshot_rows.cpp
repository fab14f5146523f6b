#include "gateway/sandboxes/rows/snapshot_rows.hpp"

#include "gateway/core/statement.hpp"
#include "gateway/sandboxes/rows/sandbox_rows.hpp"

namespace sandgate {

Json to_json(const SnapshotRecord& snapshot) {
  Json document = {{"id", snapshot.id.value},
                   {"sandbox", snapshot.sandbox.value},
                   {"kept", to_string(snapshot.kept)},
                   {"size_bytes", snapshot.size_bytes},
                   {"created_at", to_rfc3339(snapshot.created_at)}};
  if (!snapshot.name.empty()) document["name"] = snapshot.name;
  return document;
}

namespace snapshot_rows {
namespace {

constexpr char kSnapshotColumns[] =
    "id, tenant, for_fork, name, sandbox, deployment, backend_id, kept, disk_gib, size_bytes,"
    " (extract(epoch from created_at) * 1000000)::bigint";

// The variables may hold secrets: they do not wait for the backend.
constexpr char kSetRemoving[] = "UPDATE snapshot SET state = 'removing', sealed_env = NULL,";

SnapshotRecord snapshot_from(const pqxx::row& row) {
  return {.id = SnapshotId{row[0].as<std::string>()},
          .tenant = TenantId{row[1].as<std::string>()},
          .for_fork = row[2].as<bool>(),
          .name = row[3].as<std::string>(),
          .sandbox = SandboxId{row[4].as<std::string>()},
          .deployment = row[5].as<std::string>(),
          .backend_id = row[6].as<std::string>(),
          .kept = keeps_from(row[7].as<std::string>()).value_or(Keeps::nothing),
          .disk_gib = row[8].as<int64_t>(),
          .size_bytes = row[9].as<int64_t>(),
          .created_at = from_micros(row[10].as<int64_t>())};
}

std::optional<SnapshotRecord> first_of(const pqxx::result& rows) {
  if (rows.empty()) return std::nullopt;
  return snapshot_from(rows.front());
}

std::vector<SnapshotRecord> all_of(const pqxx::result& rows) {
  std::vector<SnapshotRecord> snapshots;
  for (const auto& row : rows) snapshots.push_back(snapshot_from(row));
  return snapshots;
}

}  // namespace

void insert(pqxx::work& tx, const SnapshotRecord& snapshot, std::chrono::milliseconds lease) {
  run_prepared(tx, R"sql(
    INSERT INTO snapshot (id, tenant, state, for_fork, name, sandbox, deployment, kept, disk_gib,
      lease_until, sealed_env, backend_id)
    VALUES ($1, $2, 'creating', $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9 / 1000.0),
      (SELECT sealed_env FROM sandbox WHERE id = $5), $10))sql",
               snapshot.id.value, snapshot.tenant.value, snapshot.for_fork, snapshot.name,
               snapshot.sandbox.value, snapshot.deployment, std::string(to_string(snapshot.kept)),
               snapshot.disk_gib, lease.count(), snapshot.backend_id);
}

void renew(pqxx::work& tx, const SnapshotId& id, std::chrono::milliseconds lease) {
  run_prepared(tx,
               "UPDATE snapshot SET lease_until = now() + make_interval(secs => $2 / 1000.0)"
               " WHERE id = $1 AND state = 'ready' AND for_fork",
               id.value, lease.count());
}

std::optional<SnapshotRecord> set_ready(pqxx::work& tx, const SnapshotRecord& made) {
  static const std::string kSql =
      "UPDATE snapshot SET state = 'ready', backend_id = $2, kept = $3, size_bytes = $4"
      " WHERE id = $1 AND state = 'creating' RETURNING " +
      std::string(kSnapshotColumns);
  return first_of(run_prepared(tx, kSql, made.id.value, made.backend_id,
                               std::string(to_string(made.kept)), made.size_bytes));
}

std::optional<SnapshotRecord> set_removing(pqxx::work& tx, const TenantId& tenant,
                                           const SnapshotId& id, std::chrono::milliseconds lease) {
  static const std::string kSql =
      std::string(kSetRemoving) +
      " attempts = 0, lease_until = now() + make_interval(secs => $3 / 1000.0)"
      " WHERE tenant = $1 AND id = $2 AND state = 'ready' AND NOT for_fork RETURNING " +
      std::string(kSnapshotColumns);
  return first_of(run_prepared(tx, kSql, tenant.value, id.value, lease.count()));
}

void give_up(pqxx::work& tx, const SnapshotId& id, std::chrono::milliseconds after) {
  static const std::string kSql =
      std::string(kSetRemoving) +
      " lease_until = now() + make_interval(secs => $2 / 1000.0) WHERE id = $1";
  run_prepared(tx, kSql, id.value, after.count());
}

void give_up_unmade(pqxx::work& tx, const SnapshotId& id, std::chrono::milliseconds after) {
  static const std::string kSql = std::string(kSetRemoving) +
                                  " lease_until = now() + make_interval(secs => $2 / 1000.0)"
                                  " WHERE id = $1 AND state = 'creating'";
  run_prepared(tx, kSql, id.value, after.count());
}

bool is_being_made(pqxx::work& tx, const SnapshotId& id) {
  return !run_prepared(tx, "SELECT FROM snapshot WHERE id = $1 AND state = 'creating'", id.value)
              .empty();
}

bool is_copied(pqxx::work& tx, const SandboxId& sandbox) {
  static const std::string kSql =
      "SELECT FROM snapshot WHERE sandbox = $1 AND state = 'creating' LIMIT 1";
  return !run_prepared(tx, kSql, sandbox.value).empty();
}

void erase(pqxx::work& tx, const SnapshotId& id) {
  run_prepared(tx, "DELETE FROM snapshot WHERE id = $1", id.value);
}

void postpone(pqxx::work& tx, const SnapshotId& id) {
  run_prepared(tx, R"sql(
    UPDATE snapshot SET attempts = attempts + 1,
      lease_until = now() + make_interval(secs => least(60, power(2, least(attempts, 6))))
    WHERE id = $1)sql",
               id.value);
}

std::optional<SnapshotRecord> find(pqxx::work& tx, const TenantId& tenant, const SnapshotId& id) {
  static const std::string kSql =
      "SELECT " + std::string(kSnapshotColumns) +
      " FROM snapshot WHERE tenant = $1 AND id = $2 AND state = 'ready' AND NOT for_fork";
  return first_of(run_prepared(tx, kSql, tenant.value, id.value));
}

std::vector<SnapshotRecord> list(pqxx::work& tx, const Page& page) {
  std::string sql = "SELECT " + std::string(kSnapshotColumns) +
                    " FROM snapshot WHERE state = 'ready' AND NOT for_fork AND tenant = " +
                    tx.quote(page.tenant.value);
  if (page.after)
    sql += " AND (created_at, id) < (" + tx.quote(to_rfc3339(page.after->first)) +
           "::timestamptz, " + tx.quote(page.after->second) + ")";
  sql += " ORDER BY created_at DESC, id DESC LIMIT " + std::to_string(page.rows);
  return all_of(tx.exec(sql));
}

std::vector<SnapshotRecord> take_unfinished(pqxx::work& tx, int most, const std::string& machine,
                                            std::chrono::milliseconds lease,
                                            std::chrono::milliseconds ahead) {
  static const std::string kSql = std::string(kSetRemoving) + R"sql(
      lease_until = now() + make_interval(secs => $3 / 1000.0)
    WHERE id = ANY(ARRAY(SELECT id FROM snapshot WHERE (state <> 'ready' OR for_fork)
        AND lease_until <= now() + make_interval(secs => $1 / 1000.0) AND )sql" +
                                  sandbox_rows::not_elsewhere("$4") + R"sql(
      ORDER BY lease_until LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING )sql" +
                                  std::string(kSnapshotColumns);
  return all_of(run_prepared(tx, kSql, ahead.count(), most, lease.count(), machine));
}

size_t give_up_earlier(pqxx::work& tx, const std::string& machine, Time before) {
  static const std::string kSql = std::string(kSetRemoving) +
                                  " attempts = 0 WHERE (state = 'creating' OR for_fork)"
                                  " AND state <> 'removing' AND backend_id = id || '@' || $1"
                                  " AND created_at < to_timestamp($2 / 1000000.0)";
  return run_prepared(tx, kSql, machine, to_micros(before)).affected_rows();
}

std::vector<SnapshotRecord> unwanted_on(pqxx::work& tx, const std::string& machine, int most) {
  static const std::string kSql = "SELECT " + std::string(kSnapshotColumns) +
                                  " FROM snapshot WHERE state = 'removing' AND attempts = 0"
                                  " AND lease_until > now() AND backend_id = id || '@' || $1"
                                  " ORDER BY lease_until LIMIT $2";
  return all_of(run_prepared(tx, kSql, machine, most));
}

size_t forget_lost(pqxx::work& tx, std::chrono::hours age, int most) {
  return run_prepared(tx, R"sql(
    DELETE FROM snapshot WHERE id = ANY(ARRAY(SELECT id FROM snapshot n
      WHERE (state <> 'ready' OR for_fork) AND lease_until <= now() - $1 * interval '1 hour'
        AND backend_id LIKE id || '@%'
        AND NOT EXISTS (SELECT FROM machine WHERE name = split_part(n.backend_id, '@', 2))
      ORDER BY lease_until LIMIT $2 FOR UPDATE SKIP LOCKED)))sql",
                      static_cast<int64_t>(age.count()), most)
      .affected_rows();
}

}  // namespace snapshot_rows
}  // namespace sandgate
