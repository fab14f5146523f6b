#include "gateway/sandboxes/creating/insert_sandbox.hpp"

#include "billing/sql_array.hpp"
#include "billing/usage/metered_rows.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/statement.hpp"
#include "gateway/sandboxes/rows/sandbox_rows.hpp"

namespace sandgate::sandbox_rows {
namespace {

constexpr std::string_view kPlaceIndex = "sandbox_on_deployment";

// Attempts written by an earlier try of the same transaction stay as they are.
std::string tried_if(const std::string& condition) {
  return "tried AS (INSERT INTO attempt (sandbox, ordinal, deployment, outcome, code, duration_ms)"
         " SELECT $1, ordinal, deployment, outcome, code, duration_ms"
         " FROM json_to_recordset($2::json)"
         " AS t(ordinal int, deployment text, outcome text, code text, duration_ms bigint)" +
         condition + " ON CONFLICT DO NOTHING)";
}

// Up to the inserted row, `inserted`; inserts only where `condition` holds.
std::string insert_if(const std::string& condition) {
  return tried_if(condition) + R"sql(, why AS (
    INSERT INTO decision (id, sandbox, document) SELECT $6, $1, $7::jsonb)sql" +
         condition + R"sql( ON CONFLICT DO NOTHING), inserted AS (
  INSERT INTO sandbox (id, tenant, state, profile, profile_version, decision, isolation, planned,
    persistence, milli_vcpu, memory_mib, disk_gib, processes, metadata, ttl_seconds,
    max_ttl_seconds, expires_at, on_expiry, idle_timeout_seconds, on_idle, auto_resume, lease_until,
    wishes, scope_key, profile_id, deployment, provider, backend_id, region, charge_per_hour,
    currency, other_currencies, deployment_owner, sealed_env)
  SELECT $1, $3, $33, $4, $5, $6, $8, $9::text[], $10, $11, $12, $13, $14, $15::jsonb,
    $16::bigint, $17, now() + make_interval(secs => $16::bigint), $18, $19, $20, $21,
    now() + make_interval(secs => $22 / 1000.0), $23::jsonb, $24, $25, $26, $27, $28, $29,
    $30::numeric, $31, $32::text[],
    CASE WHEN $33 = 'running' THEN CASE WHEN $34 THEN $3 ELSE '' END END, $35::bytea)sql" +
         condition + " ON CONFLICT (id) DO NOTHING RETURNING " + columns() + ")";
}

// For tenants without limits and budgets.
std::string insert_unless_limited(const std::string& condition) {
  return R"sql(free AS MATERIALIZED (SELECT FROM tenant WHERE id = $3
      AND max_running IS NULL AND max_milli_vcpu IS NULL AND creates_per_minute IS NULL
      AND NOT EXISTS (SELECT FROM budget b WHERE b.tenant = $3) AND )sql" +
         condition + "), " + insert_if(" WHERE EXISTS (SELECT FROM free)");
}

// The attempts as tried_if() takes them.
std::string attempts_text(const std::vector<Attempt>& attempts) {
  Json list = Json::array();
  for (const Attempt& attempt : attempts) {
    list.push_back(to_json(attempt));
    list.back()["ordinal"] = list.size();
  }
  return list.dump();
}

// The result of `write`, which sets a backend id. A second use of that id becomes a taken conflict.
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

// Runs `sql`, which begins with insert_if(); `more` are the parameters from $36 on.
template <class... More>
std::optional<SandboxRecord> insert_row(pqxx::transaction_base& tx, const std::string& sql,
                                        const SandboxRecord& record, const NewRow& row,
                                        const More&... more) {
  const Decision& decision = row.decision;
  std::optional<std::string> env;
  if (row.sealed_env) env = "\\x" + to_hex(*row.sealed_env);
  return placed_once([&] {
    return first_of(run_prepared(
        tx, sql, record.id.value, attempts_text(decision.attempts), record.tenant.value,
        record.profile, record.profile_version, record.decision.value, to_json(decision).dump(),
        std::string(to_string(record.isolation)), sql_array_of(record.planned),
        std::string(to_string(record.persistence)), record.resources.milli_vcpu,
        record.resources.memory_mib, record.resources.disk_gib, record.resources.processes,
        Json(record.metadata).dump(), record.ttl_seconds, record.max_ttl_seconds,
        std::string(to_string(record.on_expiry)), record.idle_timeout_seconds,
        std::string(to_string(record.on_idle)), record.auto_resume, row.lease.count(),
        row.overrides.dump(), row.scope_key, record.profile_id, record.deployment, record.provider,
        record.backend_id, record.region, record.charge_per_hour, record.currency,
        sql_array_of(record.other_currencies), std::string(to_string(record.state)), row.own, env,
        more...));
  });
}

}  // namespace

std::optional<SandboxRecord> insert(pqxx::work& tx, const SandboxRecord& record,
                                    const NewRow& row) {
  static const std::string kSql = "WITH " + insert_if("") + " SELECT * FROM inserted";
  return insert_row(tx, kSql, record, row);
}

std::optional<SandboxRecord> insert_unlimited(pqxx::work& tx, const SandboxRecord& record,
                                              const NewRow& row) {
  static const std::string kSql =
      "WITH " + insert_unless_limited("true") + " SELECT * FROM inserted";
  return insert_row(tx, kSql, record, row);
}

std::optional<SandboxRecord> try_fast_insert(pqxx::nontransaction& statement,
                                             const SandboxRecord& running, const NewRow& row,
                                             const std::string& key, Time until) {
  static const std::string kSql =
      "WITH " + insert_unless_limited("statement_timestamp() < $37::timestamptz") +
      ", metered AS (" +
      metered_insert(
          "$1, $3, $4, $5, $26, $27, $29, $15::jsonb, $11, $12, $13, now(), now(),"
          " now(), $36, $34") +
      " FROM inserted) SELECT * FROM inserted";
  return insert_row(statement, kSql, running, row, key, to_rfc3339(until));
}

void begin(pqxx::work& tx, const SandboxId& id, const std::vector<Attempt>& attempts,
           const std::string& key) {
  static const std::string kSql =
      "WITH " + tried_if("") +
      metered_insert(
          "id, tenant, profile, profile_version, deployment, provider, region, metadata,"
          " milli_vcpu, memory_mib, disk_gib, at, at, at, $3, deployment_owner <> ''") +
      " FROM sandbox, (SELECT clock_timestamp()) AS opened(at) WHERE id = $1";
  run_prepared(tx, kSql, id.value, attempts_text(attempts), key);
}

std::optional<SandboxRecord> set_running(pqxx::work& tx, const SandboxRecord& placed, bool own,
                                         const std::vector<Attempt>& attempts) {
  static const std::string kSql = "WITH " + tried_if("") + R"sql(
    UPDATE sandbox SET state = 'running', deployment = $3, provider = $4, backend_id = $5,
      isolation = $6, region = $7, charge_per_hour = $8::numeric, currency = $9,
      other_currencies = $10::text[], deployment_owner = CASE WHEN $11 THEN tenant ELSE '' END,
      milli_vcpu = $12, memory_mib = $13, disk_gib = $14,
      expires_at = now() + make_interval(secs => ttl_seconds), last_active_at = now()
    WHERE id = $1 AND state = 'creating' RETURNING )sql" +
                                  columns();
  return placed_once([&] {
    return first_of(run_prepared(
        tx, kSql, placed.id.value, attempts_text(attempts), placed.deployment, placed.provider,
        placed.backend_id, std::string(to_string(placed.isolation)), placed.region,
        placed.charge_per_hour, placed.currency, sql_array_of(placed.other_currencies), own,
        placed.resources.milli_vcpu, placed.resources.memory_mib, placed.resources.disk_gib));
  });
}

bool is_taken(const Error& error) {
  return error.code == ErrorCode::conflict && error.details.contains("taken");
}

bool set_not_created(pqxx::work& tx, const SandboxId& id, const SandboxFailure& failure,
                     const std::vector<Attempt>& attempts) {
  static const std::string kSql = "WITH " + tried_if("") + R"sql(
    UPDATE sandbox SET state = 'failed', sealed_env = NULL, failure_code = $3, failure_detail = $4,
      ended_at = now(), stop_reason = 'failed'
    WHERE id = $1 AND state = 'creating')sql";
  return run_prepared(tx, kSql, id.value, attempts_text(attempts), failure.code, failure.detail)
             .affected_rows() == 1;
}

}  // namespace sandgate::sandbox_rows
