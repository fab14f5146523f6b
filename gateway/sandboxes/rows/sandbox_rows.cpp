#include "gateway/sandboxes/rows/sandbox_rows.hpp"

#include "billing/sql_array.hpp"
#include "gateway/core/statement.hpp"
#include "gateway/sandboxes/rows/due_conditions.hpp"

namespace sandgate::sandbox_rows {
namespace {

std::optional<std::string> code_of(const Stop& stop) {
  return stop.failure ? std::optional(stop.failure->code) : std::nullopt;
}

std::optional<std::string> detail_of(const Stop& stop) {
  return stop.failure ? std::optional(stop.failure->detail) : std::nullopt;
}

std::string stopping_columns(int first_parameter) {
  const auto parameter = [&](int i) { return "$" + std::to_string(first_parameter + i); };
  return " state = 'stopping', sealed_env = NULL, stop_requested_at = now(), stop_attempts = 0, "
         "stop_reason = " +
         parameter(0) + ", failure_code = " + parameter(1) + ", failure_detail = " + parameter(2) +
         ", lease_until = now() + make_interval(secs => " + parameter(3) + " / 1000.0) ";
}

struct DueRows {
  std::string condition, order;
};

const DueRows& rows_that_are(Due due) {
  using due_conditions::kNow;
  static const DueRows kExpired{
      "state IN ('running', 'pausing', 'paused', 'resuming') AND on_expiry = 'kill'"
      " AND expires_at <= " +
          kNow,
      "expires_at"};
  static const DueRows kIdle{"state = 'running' AND " + due_conditions::kKilledIdle,
                             "last_active_at"};
  static const DueRows kAbandoned{"state = 'creating' AND lease_until <= " + kNow, "lease_until"};
  if (due == Due::expired) return kExpired;
  return due == Due::idle ? kIdle : kAbandoned;
}

// Parts of the statements that end a sandbox ($1) whose charge ends at $2.
constexpr const char* kBox = R"sql(box AS MATERIALIZED (
      SELECT id, CASE WHEN on_expiry = 'kill' THEN expires_at END AS expires_at
      FROM sandbox WHERE id = $1 AND state IN ('running', 'paused') FOR UPDATE))sql";
constexpr const char* kMeterEnd =
    "greatest(boundary, least($2::timestamptz, now(), box.expires_at))";
constexpr const char* kMayEnd = R"sql(m.sandbox = box.id AND m.state <> 'closed'
        AND NOT EXISTS (SELECT FROM budget b WHERE b.tenant = m.tenant)
        AND NOT EXISTS (SELECT FROM reservation r WHERE r.sandbox = m.sandbox))sql";
constexpr const char* kStop = R"sql(
    UPDATE sandbox SET state = 'stopped', sealed_env = NULL, stop_requested_at = now(),
      stop_attempts = 0, stop_reason = 'killed', ended_at = unbooked_end
    FROM metered WHERE id = metered.sandbox RETURNING )sql";

}  // namespace

std::optional<SandboxRecord> set_stopping(pqxx::work& tx, const SandboxId& id, const Stop& stop) {
  static const std::string kSql =
      "UPDATE sandbox SET" + stopping_columns(2) +
      "WHERE id = $1 AND state IN ('creating', 'running', 'pausing', 'paused', 'resuming')"
      " AND (state <> 'creating' OR NOT $6) RETURNING " +
      columns();
  return first_of(run_prepared(tx, kSql, id.value, stop.reason, code_of(stop), detail_of(stop),
                               stop.lease.count(), stop.placed_only));
}

std::vector<SandboxRecord> find_due(pqxx::work& tx, Due due, int most,
                                    std::chrono::milliseconds ahead,
                                    const std::vector<std::string>& except_tenants) {
  const auto& [condition, order] = rows_that_are(due);
  const std::string sql = "SELECT " + columns() + " FROM sandbox WHERE " + condition +
                          " AND tenant <> ALL($2::text[]) ORDER BY " + order + " LIMIT $3";
  return all_of(run_prepared(tx, sql, ahead.count(), sql_array_of(except_tenants), most));
}

std::optional<SandboxRecord> stop_if_due(pqxx::work& tx, const SandboxId& id, Due due,
                                         const Stop& stop, std::chrono::milliseconds ahead) {
  const std::string sql = "UPDATE sandbox SET" + stopping_columns(3) +
                          "WHERE id = (SELECT id FROM sandbox WHERE id = $2 AND " +
                          rows_that_are(due).condition + " FOR UPDATE SKIP LOCKED) RETURNING " +
                          columns();
  return first_of(run_prepared(tx, sql, ahead.count(), id.value, stop.reason, code_of(stop),
                               detail_of(stop), stop.lease.count()));
}

Time idle_since(pqxx::work& tx, const SandboxId& id) {
  static const std::string kSql = "SELECT (extract(epoch FROM " + due_conditions::kIdleSince +
                                  ") * 1000000)::bigint FROM sandbox WHERE id = $1";
  return from_micros(run_prepared(tx, kSql, id.value)[0][0].as<int64_t>());
}

std::string not_elsewhere(const std::string& parameter) {
  return "(backend_id NOT LIKE id || '@%' OR backend_id = id || '@' || " + parameter + ")";
}

std::vector<SandboxRecord> take_unfinished(pqxx::work& tx, Unfinished what,
                                           const std::string& machine, int most,
                                           std::chrono::milliseconds lease,
                                           std::chrono::milliseconds ahead) {
  const std::string states =
      what == Unfinished::ends ? "state = 'stopping'" : "state IN ('pausing', 'resuming')";
  const std::string sql =
      "UPDATE sandbox SET lease_until = now() + make_interval(secs => $3 / 1000.0)"
      " WHERE id = ANY(ARRAY(SELECT id FROM sandbox WHERE " +
      states +
      " AND lease_until <= now() + make_interval(secs => $1 / 1000.0)"
      " AND " +
      not_elsewhere("$4") + " ORDER BY lease_until LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING " +
      columns();
  return all_of(run_prepared(tx, sql, ahead.count(), most, lease.count(), machine));
}

std::optional<Ended> set_ended(pqxx::work& tx, const SandboxId& id) {
  const auto rows = run_prepared(tx, R"sql(
    UPDATE sandbox SET ended_at = coalesce((SELECT boundary FROM metered_sandbox
        WHERE sandbox = $1 AND state = 'closed'), now()),
      state = CASE WHEN failure_code IS NULL THEN 'stopped' ELSE 'failed' END
    WHERE id = $1 AND state = 'stopping'
    RETURNING (extract(epoch FROM ended_at) * 1000000)::bigint, backend_id,
      EXISTS (SELECT FROM reservation WHERE sandbox = $1))sql",
                                 id.value);
  if (rows.empty()) return std::nullopt;
  return Ended{from_micros(rows[0][0].as<int64_t>()), rows[0][1].as<std::string>(),
               rows[0][2].as<bool>()};
}

void lock(pqxx::work& tx, const SandboxId& id) {
  run_prepared(tx, "SELECT FROM sandbox WHERE id = $1 FOR NO KEY UPDATE", id.value);
}

bool try_fast_end(pqxx::nontransaction& statement, const SandboxId& id, Time at,
                  const Meter::Measured& counted) {
  static const std::string kSql = std::string("WITH ") + kBox + R"sql(, metered AS (
      UPDATE metered_sandbox m SET state = 'closed', closed_as = m.state, unbooked_end = )sql" +
                                  kMeterEnd + R"sql(,
        final_egress_bytes = $3, final_cpu_micros = $4, final_read_at = $5::timestamptz
      FROM box WHERE )sql" + kMayEnd +
                                  " RETURNING m.sandbox, unbooked_end)" + kStop + "id";
  return !run_prepared(statement, kSql, id.value, to_rfc3339(at), counted.egress_bytes,
                       counted.active_cpu_micros, to_rfc3339(counted.sampled_at))
              .empty();
}

std::optional<Time> set_ended_speculatively(pqxx::work& tx, const SandboxId& id, Time at) {
  static const std::string kSql =
      std::string("WITH ") + kBox + ", metered AS MATERIALIZED (SELECT m.sandbox, " + kMeterEnd +
      " AS unbooked_end FROM metered_sandbox m, box WHERE " + kMayEnd + " FOR UPDATE OF m)" +
      kStop + "(extract(epoch FROM ended_at) * 1000000)::bigint";
  const auto rows = run_prepared(tx, kSql, id.value, to_rfc3339(at));
  if (rows.empty()) return std::nullopt;
  return from_micros(rows[0][0].as<int64_t>());
}

void close_meter_speculatively(pqxx::work& tx, const SandboxId& id, Time ended_at,
                               const Meter::Measured& counted) {
  run_prepared(tx, R"sql(
    UPDATE metered_sandbox SET state = 'closed', closed_as = state, unbooked_end = $2::timestamptz,
      final_egress_bytes = $3, final_cpu_micros = $4, final_read_at = $5::timestamptz
    WHERE sandbox = $1)sql",
               id.value, to_rfc3339(ended_at), counted.egress_bytes, counted.active_cpu_micros,
               to_rfc3339(counted.sampled_at));
}

void postpone(pqxx::work& tx, const SandboxId& id, std::chrono::seconds most) {
  run_prepared(tx, R"sql(
    UPDATE sandbox SET stop_attempts = stop_attempts + 1,
      lease_until = now() + make_interval(secs => least($2, power(2, least(stop_attempts, 6))))
    WHERE id = $1 AND state = 'stopping')sql",
               id.value, most.count());
}

void make_due(pqxx::work& tx, const SandboxId& id) {
  run_prepared(tx, "UPDATE sandbox SET lease_until = now() WHERE id = $1 AND state = 'stopping'",
               id.value);
}

std::optional<Extended> set_expiry(pqxx::work& tx, const SandboxId& id, int64_t ttl_seconds) {
  static const std::string kSql = R"sql(
    UPDATE sandbox SET expires_at = now() + make_interval(secs => $2::bigint),
      ttl_seconds = $2::bigint, last_active_at = now()
    FROM (SELECT id AS old_id, expires_at AS before FROM sandbox WHERE id = $1 FOR UPDATE) old
    WHERE id = old_id AND state IN ('running', 'paused') RETURNING )sql" +
                                  columns() + ", (extract(epoch FROM before) * 1000000)::bigint";
  const auto rows = run_prepared(tx, kSql, id.value, ttl_seconds);
  if (rows.empty()) return std::nullopt;
  const auto row = rows.front();
  return Extended{from_row(row), from_micros(row[row.size() - 1].as<int64_t>())};
}

std::vector<OpenAttempt> take_open_attempts(pqxx::work& tx, int most,
                                            std::chrono::milliseconds ahead) {
  const auto rows = run_prepared(tx, R"sql(
    UPDATE attempt SET next_look_at = now() + interval '15 seconds'
    FROM (SELECT a.sandbox AS s, a.ordinal AS o, b.tenant AS t
      FROM attempt a JOIN sandbox b ON b.id = a.sandbox
      WHERE resolved_at IS NULL AND outcome IN ('unknown', 'lost_race')
        AND next_look_at <= now() + make_interval(secs => $1 / 1000.0)
      ORDER BY next_look_at LIMIT $2 FOR UPDATE OF a SKIP LOCKED) due
    WHERE sandbox = s AND ordinal = o
    RETURNING sandbox, t, ordinal, deployment,
      at < now() + make_interval(secs => $1 / 1000.0) - interval '2 minutes')sql",
                                 ahead.count(), most);
  std::vector<OpenAttempt> taken;
  for (const auto& row : rows)
    taken.push_back({SandboxId{row[0].as<std::string>()}, TenantId{row[1].as<std::string>()},
                     row[2].as<int>(), row[3].as<std::string>(), row[4].as<bool>()});
  return taken;
}

void resolve(pqxx::work& tx, const OpenAttempt& attempt) {
  run_prepared(tx, "UPDATE attempt SET resolved_at = now() WHERE sandbox = $1 AND ordinal = $2",
               attempt.sandbox.value, attempt.ordinal);
}

// One that ends later than any lease can is of before the database's clock was set back.
bool acquire_lease(pqxx::work& tx, const std::string& name, std::chrono::milliseconds lease) {
  return !run_prepared(tx, R"sql(
    INSERT INTO sweep_lease AS held (name, until)
    VALUES ($1, now() + make_interval(secs => $2 / 1000.0))
    ON CONFLICT (name) DO UPDATE SET until = excluded.until
      WHERE held.until <= now() OR held.until > now() + 2 * make_interval(secs => $2 / 1000.0)
    RETURNING true)sql",
                       name, lease.count())
              .empty();
}

}  // namespace sandgate::sandbox_rows
