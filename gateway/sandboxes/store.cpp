#include "gateway/sandboxes/store.hpp"

#include "billing/sql_array.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate::sandbox_rows {
namespace {

constexpr std::string_view kPlaceIndex = "sandbox_on_deployment";

// Attempts that an earlier try of the same transaction already wrote stay as they are.
constexpr char kTried[] = R"sql(
  INSERT INTO attempt (sandbox, ordinal, deployment, outcome, code, duration_ms)
  SELECT $1, ordinal, deployment, outcome, code, duration_ms
  FROM json_to_recordset($2::json)
    AS t(ordinal int, deployment text, outcome text, code text, duration_ms bigint)
  ON CONFLICT DO NOTHING)sql";

constexpr char kInsert[] = R"sql(), why AS (
    INSERT INTO decision (id, sandbox, document) VALUES ($6, $1, $7::jsonb))
  INSERT INTO sandbox (id, tenant, state, profile, profile_version, decision, isolation, planned,
    persistence, milli_vcpu, memory_mib, disk_gib, processes, metadata, ttl_seconds,
    max_ttl_seconds, expires_at, on_expiry, idle_timeout_seconds, on_idle, auto_resume, lease_until,
    wishes, scope_key, profile_id, deployment, provider, backend_id, region, charge_per_hour,
    currency, other_currencies, deployment_owner)
  VALUES ($1, $3, $33, $4, $5, $6, $8, $9::text[], $10, $11, $12, $13, $14, $15::jsonb,
    $16::bigint, $17, now() + make_interval(secs => $16::bigint), $18, $19, $20, $21,
    now() + make_interval(secs => $22 / 1000.0), $23::jsonb, $24, $25, $26, $27, $28, $29,
    $30::numeric, $31, $32::text[],
    CASE WHEN $33 = 'running' THEN CASE WHEN $34 THEN $3 ELSE '' END END) RETURNING )sql";

std::optional<SandboxRecord> first(const pqxx::result& rows) {
  if (rows.empty()) return std::nullopt;
  return from_row(rows.front());
}

// As kTried takes them.
std::string attempts_text(const std::vector<Attempt>& attempts) {
  Json list = Json::array();
  for (const Attempt& attempt : attempts) {
    list.push_back(to_json(attempt));
    list.back()["ordinal"] = list.size();
  }
  return list.dump();
}

// What `write` returns, which says of a sandbox where it is: only one may be that one.
template <class F>
auto placed_once(const F& write) {
  try {
    return write();
  } catch (const pqxx::unique_violation& violation) {
    if (std::string_view(violation.what()).find(kPlaceIndex) == std::string_view::npos) throw;
    Error error(ErrorCode::conflict, "another sandbox is the same one at its backend");
    error.details = {{"taken", true}};
    throw error;
  }
}

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

}  // namespace

SandboxRecord insert(pqxx::work& tx, const SandboxRecord& record, const Birth& birth) {
  static const std::string kSql = std::string("WITH tried AS (") + kTried + kInsert + columns();
  const Decision& decision = birth.decision;
  return placed_once([&] {
    return from_row(
        run_prepared(
            tx, kSql, record.id.value, attempts_text(decision.attempts), record.tenant.value,
            record.profile, record.profile_version, record.decision.value, to_json(decision).dump(),
            std::string(to_string(record.isolation)), sql_array_of(record.planned),
            std::string(to_string(record.persistence)), record.resources.milli_vcpu,
            record.resources.memory_mib, record.resources.disk_gib, record.resources.processes,
            Json(record.metadata).dump(), record.ttl_seconds, record.max_ttl_seconds,
            std::string(to_string(record.on_expiry)), record.idle_timeout_seconds,
            std::string(to_string(record.on_idle)), record.auto_resume, birth.lease.count(),
            birth.wishes.dump(), birth.scope_key, record.profile_id, record.deployment,
            record.provider, record.backend_id, record.region, record.charge_per_hour,
            record.currency, sql_array_of(record.other_currencies),
            std::string(to_string(record.state)), birth.own)
            .front());
  });
}

bool is_taken(const Error& error) {
  return error.code == ErrorCode::conflict && error.details.contains("taken");
}

std::optional<SandboxRecord> set_running(pqxx::work& tx, const SandboxRecord& placed, bool own,
                                         const std::vector<Attempt>& attempts) {
  static const std::string kSql = std::string("WITH tried AS (") + kTried + R"sql()
    UPDATE sandbox SET state = 'running', deployment = $3, provider = $4, backend_id = $5,
      isolation = $6, region = $7, charge_per_hour = $8::numeric, currency = $9,
      other_currencies = $10::text[], deployment_owner = CASE WHEN $11 THEN tenant ELSE '' END,
      expires_at = now() + make_interval(secs => ttl_seconds), last_active_at = now()
    WHERE id = $1 AND state = 'creating' RETURNING )sql" +
                                  columns();
  return placed_once([&] {
    return first(run_prepared(
        tx, kSql, placed.id.value, attempts_text(attempts), placed.deployment, placed.provider,
        placed.backend_id, std::string(to_string(placed.isolation)), placed.region,
        placed.charge_per_hour, placed.currency, sql_array_of(placed.other_currencies), own));
  });
}

bool set_not_created(pqxx::work& tx, const SandboxId& id, const SandboxFailure& failure,
                     const std::vector<Attempt>& attempts) {
  static const std::string kSql = std::string("WITH tried AS (") + kTried + R"sql()
    UPDATE sandbox SET state = 'failed', sealed_env = NULL, failure_code = $3, failure_detail = $4, ended_at = now(),
      stop_reason = 'failed'
    WHERE id = $1 AND state = 'creating')sql";
  return run_prepared(tx, kSql, id.value, attempts_text(attempts), failure.code, failure.detail)
             .affected_rows() == 1;
}

std::optional<SandboxRecord> set_stopping(pqxx::work& tx, const SandboxId& id, const Stop& stop) {
  static const std::string kSql =
      "UPDATE sandbox SET" + stopping_columns(2) +
      "WHERE id = $1 AND state IN ('creating', 'running', 'pausing', 'paused', 'resuming')"
      " AND (state <> 'creating' OR NOT $6) RETURNING " +
      columns();
  return first(run_prepared(tx, kSql, id.value, stop.reason, code_of(stop), detail_of(stop),
                            stop.lease.count(), stop.placed_only));
}

std::vector<SandboxRecord> stop_where(pqxx::work& tx, const std::string& condition,
                                      const Stop& stop, int most, std::chrono::milliseconds ahead) {
  const std::string sql = "UPDATE sandbox SET" + stopping_columns(3) +
                          "WHERE id = ANY(ARRAY(SELECT id FROM sandbox WHERE " + condition +
                          " LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING " + columns();
  std::vector<SandboxRecord> taken;
  for (const auto& row : run_prepared(tx, sql, ahead.count(), most, stop.reason, code_of(stop),
                                      detail_of(stop), stop.lease.count()))
    taken.push_back(from_row(row));
  return taken;
}

std::string not_elsewhere(const std::string& parameter) {
  return "(backend_id NOT LIKE id || '@%' OR backend_id = id || '@' || " + parameter + ")";
}

std::vector<SandboxRecord> take_due(pqxx::work& tx, const std::string& states,
                                    const std::string& machine, int most,
                                    std::chrono::milliseconds lease,
                                    std::chrono::milliseconds ahead) {
  const std::string sql =
      "UPDATE sandbox SET lease_until = now() + make_interval(secs => $3 / 1000.0)"
      " WHERE id = ANY(ARRAY(SELECT id FROM sandbox WHERE " +
      states +
      " AND lease_until <= now() + make_interval(secs => $1 / 1000.0)"
      " AND " +
      not_elsewhere("$4") + " ORDER BY lease_until LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING " +
      columns();
  std::vector<SandboxRecord> taken;
  for (const auto& row : run_prepared(tx, sql, ahead.count(), most, lease.count(), machine))
    taken.push_back(from_row(row));
  return taken;
}

std::optional<Ended> set_ended(pqxx::work& tx, const SandboxId& id) {
  const auto rows = run_prepared(tx, R"sql(
    UPDATE sandbox SET ended_at = coalesce((SELECT boundary FROM metered_sandbox
        WHERE sandbox = $1 AND state = 'closed'), now()),
      state = CASE WHEN failure_code IS NULL THEN 'stopped' ELSE 'failed' END
    WHERE id = $1 AND state = 'stopping'
    RETURNING (extract(epoch FROM ended_at) * 1000000)::bigint, backend_id)sql",
                                 id.value);
  if (rows.empty()) return std::nullopt;
  return Ended{from_micros(rows[0][0].as<int64_t>()), rows[0][1].as<std::string>()};
}

std::optional<Time> set_ended_at_once(pqxx::nontransaction& statement, const SandboxId& id, Time at,
                                      const Meter::Measured& counted) {
  const auto rows = run_prepared(statement, R"sql(
    WITH lazily AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
    box AS MATERIALIZED (
      SELECT id, CASE WHEN on_expiry = 'kill' THEN expires_at END AS expires_at
      FROM sandbox, lazily WHERE id = $1 AND state IN ('running', 'paused') FOR UPDATE OF sandbox),
    metered AS (
      UPDATE metered_sandbox m SET state = 'closed', closed_as = m.state,
        unbooked_end = greatest(boundary, least($2::timestamptz, now(), box.expires_at)),
        final_egress_bytes = $3, final_cpu_micros = $4, final_read_at = $5::timestamptz
      FROM box WHERE m.sandbox = box.id AND m.state <> 'closed'
        AND NOT EXISTS (SELECT FROM budget b WHERE b.tenant = m.tenant)
        AND NOT EXISTS (SELECT FROM reservation r WHERE r.sandbox = m.sandbox)
      RETURNING m.sandbox, unbooked_end)
    UPDATE sandbox SET state = 'stopped', sealed_env = NULL, stop_requested_at = now(),
      stop_attempts = 0, stop_reason = 'killed', ended_at = unbooked_end
    FROM metered WHERE id = metered.sandbox
    RETURNING (extract(epoch FROM ended_at) * 1000000)::bigint)sql",
                                 id.value, to_rfc3339(at), counted.egress_bytes,
                                 counted.active_cpu_micros, to_rfc3339(counted.sampled_at));
  if (rows.empty()) return std::nullopt;
  return from_micros(rows[0][0].as<int64_t>());
}

void put_off(pqxx::work& tx, const SandboxId& id) {
  run_prepared(tx, R"sql(
    UPDATE sandbox SET stop_attempts = stop_attempts + 1,
      lease_until = now() + make_interval(secs => least(60, power(2, least(stop_attempts, 6))))
    WHERE id = $1 AND state = 'stopping')sql",
               id.value);
}

std::optional<SandboxRecord> set_expiry(pqxx::work& tx, const SandboxId& id, int64_t ttl_seconds) {
  static const std::string kSql = R"sql(
    UPDATE sandbox SET expires_at = now() + make_interval(secs => $2::bigint), ttl_seconds = $2::bigint,
      last_active_at = now()
    WHERE id = $1 AND state IN ('running', 'paused') RETURNING )sql" +
                                  columns();
  return first(run_prepared(tx, kSql, id.value, ttl_seconds));
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

bool take_turn(pqxx::work& tx, const std::string& name, std::chrono::milliseconds lease) {
  return !run_prepared(tx, R"sql(
    INSERT INTO sweep_lease AS held (name, until)
    VALUES ($1, now() + make_interval(secs => $2 / 1000.0))
    ON CONFLICT (name) DO UPDATE SET until = excluded.until WHERE held.until <= now()
    RETURNING true)sql",
                       name, lease.count())
              .empty();
}

}  // namespace sandgate::sandbox_rows
