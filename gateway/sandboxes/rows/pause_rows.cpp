#include "gateway/sandboxes/rows/pause_rows.hpp"

#include "gateway/core/statement.hpp"
#include "gateway/sandboxes/rows/due_conditions.hpp"

namespace sandgate::sandbox_rows {
namespace {

constexpr char kPutOff[] =
    " stop_attempts = stop_attempts + 1,"
    " lease_until = now() + make_interval(secs => least(60, power(2, least(stop_attempts, 6))))";

constexpr char kOnExpiryRestored[] =
    " on_expiry = CASE WHEN kill_once_resumed THEN 'kill' ELSE on_expiry END,"
    " kill_once_resumed = false";

}  // namespace

std::optional<SandboxRecord> set_pausing(pqxx::work& tx, const SandboxId& id, Keeps requested,
                                         std::chrono::milliseconds lease, bool waits) {
  static const std::string kSql =
      "UPDATE sandbox SET state = 'pausing', kept = $2, stop_attempts = 0,"
      " kill_once_resumed = $4 AND on_expiry = 'kill',"
      " on_expiry = CASE WHEN $4 THEN 'pause' ELSE on_expiry END,"
      " lease_until = now() + make_interval(secs => $3 / 1000.0)"
      " WHERE id = $1 AND state = 'running' RETURNING " +
      columns();
  return first_of(
      run_prepared(tx, kSql, id.value, std::string(to_string(requested)), lease.count(), waits));
}

std::optional<SandboxRecord> set_paused(pqxx::work& tx, const SandboxId& id, Keeps kept) {
  static const std::string kSql =
      "UPDATE sandbox SET state = 'paused', kept = $2"
      " WHERE id = $1 AND state = 'pausing' RETURNING " +
      columns();
  return first_of(run_prepared(tx, kSql, id.value, std::string(to_string(kept))));
}

std::optional<SandboxRecord> set_resuming(pqxx::work& tx, const SandboxId& id,
                                          std::chrono::milliseconds lease) {
  static const std::string kSql =
      "UPDATE sandbox SET state = 'resuming', stop_attempts = 0,"
      " lease_until = now() + make_interval(secs => $2 / 1000.0)"
      " WHERE id = $1 AND state = 'paused' RETURNING " +
      columns();
  return first_of(run_prepared(tx, kSql, id.value, lease.count()));
}

std::optional<SandboxRecord> set_resumed(pqxx::work& tx, const SandboxId& id) {
  static const std::string kSql =
      "UPDATE sandbox SET state = 'running', kept = NULL, last_active_at = now(),"
      " stop_attempts = 0,"
      " expires_at = CASE WHEN kill_once_resumed OR (expires_at <= now() AND on_expiry = 'pause')"
      "   THEN now() + make_interval(secs => ttl_seconds) ELSE expires_at END," +
      std::string(kOnExpiryRestored) + " WHERE id = $1 AND state = 'resuming' RETURNING " +
      columns();
  return first_of(run_prepared(tx, kSql, id.value));
}

std::optional<SandboxRecord> revert(pqxx::work& tx, const SandboxId& id) {
  static const std::string kSql =
      "UPDATE sandbox SET state = CASE state WHEN 'pausing' THEN 'running' ELSE 'paused' END,"
      " kept = CASE state WHEN 'pausing' THEN NULL ELSE kept END,"
      " on_expiry = CASE WHEN state = 'pausing' AND kill_once_resumed THEN 'kill'"
      "   ELSE on_expiry END,"
      " kill_once_resumed = kill_once_resumed AND state = 'resuming'," +
      std::string(kPutOff) + " WHERE id = $1 AND state IN ('pausing', 'resuming') RETURNING " +
      columns();
  return first_of(run_prepared(tx, kSql, id.value));
}

bool revert_if_used(pqxx::work& tx, const SandboxId& id, bool used,
                    std::chrono::milliseconds ahead) {
  static const std::string kSql =
      "UPDATE sandbox SET state = 'running', kept = NULL, stop_attempts = 0," +
      std::string(kOnExpiryRestored) +
      ", last_active_at = CASE WHEN $3 THEN now() ELSE last_active_at END"
      " WHERE id = $2 AND state = 'pausing' AND ($3 OR NOT (" +
      due_conditions::kPausedIdle + "))";
  return run_prepared(tx, kSql, ahead.count(), id.value, used).affected_rows() == 1;
}

std::vector<SandboxId> find_idle_to_pause(pqxx::work& tx, int most,
                                          std::chrono::milliseconds ahead) {
  static const std::string kSql = "SELECT id FROM sandbox WHERE state = 'running' AND " +
                                  due_conditions::kPausedIdle + " LIMIT $2";
  std::vector<SandboxId> ids;
  for (const auto& row : run_prepared(tx, kSql, ahead.count(), most))
    ids.push_back(SandboxId{row[0].as<std::string>()});
  return ids;
}

std::vector<SandboxRecord> pause_due(pqxx::work& tx, Time created_since, int most,
                                     std::chrono::milliseconds ahead,
                                     std::chrono::milliseconds lease) {
  static const std::string kSql =
      "UPDATE sandbox SET state = 'pausing', kept = 'memory',"
      " lease_until = now() + make_interval(secs => $3 / 1000.0)"
      " WHERE id = ANY(ARRAY(SELECT id FROM sandbox WHERE state = 'running'"
      " AND created_at >= to_timestamp($4 / 1000000.0)"
      " AND (stop_attempts = 0 OR lease_until <= " +
      due_conditions::kNow +
      ") AND (on_expiry = 'pause' AND expires_at <= " + due_conditions::kNow + " OR " +
      due_conditions::kPausedIdle + ") LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING " + columns();
  return all_of(
      run_prepared(tx, kSql, ahead.count(), most, lease.count(), to_micros(created_since)));
}

bool postpone_pausing(pqxx::work& tx, const SandboxId& id) {
  static const std::string kSql = "UPDATE sandbox SET" + std::string(kPutOff) +
                                  " WHERE id = $1 AND state IN ('pausing', 'resuming')";
  return run_prepared(tx, kSql, id.value).affected_rows() == 1;
}

std::optional<std::string> last_transition(pqxx::work& tx, const SandboxId& id) {
  const auto rows = run_prepared(
      tx, "SELECT concat_ws(' ', state, lease_until, stop_attempts) FROM sandbox WHERE id = $1",
      id.value);
  if (rows.empty()) return std::nullopt;
  return rows[0][0].as<std::string>();
}

int count_postponed(pqxx::work& tx, const SandboxId& id) {
  const auto rows = run_prepared(tx, "SELECT stop_attempts FROM sandbox WHERE id = $1", id.value);
  return rows.empty() ? 0 : rows[0][0].as<int>();
}

Json overrides_of(pqxx::work& tx, const SandboxId& id) {
  const auto rows = run_prepared(tx, "SELECT wishes FROM sandbox WHERE id = $1", id.value);
  return rows.empty() ? Json::object() : Json::parse(rows[0][0].as<std::string>());
}

void leave_scope(pqxx::work& tx, const SandboxId& id, const Json& network) {
  run_prepared(tx, R"sql(
    UPDATE sandbox SET scope_key = ''
    WHERE id = $1 AND scope_key <> '' AND coalesce(wishes->'network', '{}') <> $2::jsonb
      AND NOT EXISTS (SELECT FROM mcp_session WHERE mcp_session.id = scope_key))sql",
               id.value, network.dump());
}

void set_network_override(pqxx::work& tx, const SandboxId& id, const Json& network) {
  run_prepared(tx,
               "UPDATE sandbox SET wishes = jsonb_set(wishes, '{network}', $2::jsonb)"
               " WHERE id = $1",
               id.value, network.dump());
}

}  // namespace sandgate::sandbox_rows
