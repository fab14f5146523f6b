// The functions of sandbox_rows.hpp that read.
#include <ranges>

#include "billing/sql_array.hpp"
#include "gateway/core/sql_time.hpp"
#include "gateway/core/statement.hpp"
#include "gateway/sandboxes/rows/sandbox_rows.hpp"

namespace sandgate::sandbox_rows {
namespace {

// Text keeps the microseconds, which a double would lose.
std::string moment(pqxx::work& tx, Time at) { return tx.quote(to_rfc3339(at)) + "::timestamptz"; }

// SQL for the state that a list reports of a row: `stopping` while the end in `filter.ending` is
// not in the database yet.
std::string reported_state(pqxx::work& tx, const Filter& filter) {
  if (filter.ending.empty()) return "state";
  return "CASE WHEN ended_at IS NULL AND id = ANY(" +
         tx.quote(sql_array_of(std::views::keys(filter.ending))) +
         "::text[]) THEN 'stopping' ELSE state END";
}

// All of the filter but the page.
std::string from_where(pqxx::work& tx, const Filter& filter) {
  std::string sql = " FROM sandbox WHERE tenant = " + tx.quote(filter.tenant.value);
  std::string states;
  for (const SandboxState state : filter.states)
    states += (states.empty() ? "" : ", ") + tx.quote(std::string(to_string(state)));
  if (!states.empty()) sql += " AND " + reported_state(tx, filter) + " IN (" + states + ")";
  if (filter.ended) sql += std::string(" AND ended_at IS ") + (*filter.ended ? "NOT NULL" : "NULL");
  if (!filter.profile.empty()) sql += " AND profile = " + tx.quote(filter.profile);
  if (filter.profile_version)
    sql += " AND profile_version = " + std::to_string(*filter.profile_version);
  if (!filter.deployment.empty()) sql += " AND deployment = " + tx.quote(filter.deployment);
  if (!filter.metadata.empty())
    sql += " AND metadata @> " + tx.quote(Json(filter.metadata).dump()) + "::jsonb";
  if (filter.created_after) sql += " AND created_at > " + moment(tx, *filter.created_after);
  return sql;
}

// Reads a row's fields in the order of columns().
class Fields {
 public:
  explicit Fields(const pqxx::row& row) : row_(row) {}
  std::string text() { return row_[next_++].as<std::string>(); }
  int64_t number() { return row_[next_++].as<int64_t>(); }
  bool boolean() { return row_[next_++].as<bool>(); }
  Time time() { return from_micros(number()); }
  std::optional<std::string> maybe_text() {
    const auto field = row_[next_++];
    return field.is_null() ? std::nullopt : std::optional(field.as<std::string>());
  }
  std::optional<Time> maybe_time() {
    const auto field = row_[next_++];
    return field.is_null() ? std::nullopt : std::optional(from_micros(field.as<int64_t>()));
  }

 private:
  const pqxx::row& row_;
  int next_ = 0;
};

Resources resources_from(Fields& fields) {
  Resources resources;
  resources.milli_vcpu = fields.number();
  resources.memory_mib = fields.number();
  resources.disk_gib = fields.number();
  resources.processes = fields.number();
  return resources;
}

}  // namespace

std::string columns() {
  return "id, tenant, state, profile, profile_version, profile_id, decision, deployment, provider, "
         "backend_id,"
         " region, isolation, persistence, milli_vcpu, memory_mib, disk_gib, processes, metadata,"
         " trim_scale(charge_per_hour), currency, " +
         sql_micros("created_at") + ", " + sql_micros("expires_at") + ", " +
         sql_micros("ended_at") +
         ", ttl_seconds, max_ttl_seconds, on_expiry, kill_once_resumed, idle_timeout_seconds, "
         "on_idle, auto_resume,"
         " failure_code, failure_detail, stop_reason, array_to_json(planned), kept,"
         " array_to_json(other_currencies), sandbox.xmin::text::bigint";
}

SandboxRecord from_row(const pqxx::row& row) {
  Fields fields(row);
  SandboxRecord record;
  record.id.value = fields.text();
  record.tenant.value = fields.text();
  record.state = sandbox_state_from(fields.text()).value();
  record.profile = fields.text();
  record.profile_version = static_cast<int>(fields.number());
  record.profile_id = fields.number();
  record.decision.value = fields.text();
  record.deployment = fields.text();
  record.provider = fields.text();
  record.backend_id = fields.text();
  record.region = fields.text();
  record.isolation = isolation_from(fields.text()).value();
  record.persistence = persistence_from(fields.text()).value();
  record.resources = resources_from(fields);
  record.metadata = Json::parse(fields.text()).get<std::map<std::string, std::string>>();
  record.charge_per_hour = fields.maybe_text();
  record.currency = fields.text();
  record.created_at = fields.time();
  record.expires_at = fields.time();
  record.ended_at = fields.maybe_time();
  record.ttl_seconds = fields.number();
  record.max_ttl_seconds = fields.number();
  record.on_expiry = kEndActionWords.find(fields.text()).value_or(EndAction::kill);
  record.kill_once_resumed = fields.boolean();
  record.idle_timeout_seconds = fields.number();
  record.on_idle = kEndActionWords.find(fields.text()).value_or(EndAction::kill);
  record.auto_resume = fields.boolean();
  const auto code = fields.maybe_text(), detail = fields.maybe_text();
  if (code) record.failure = SandboxFailure{*code, detail.value_or("")};
  record.ended_reason = fields.text();
  record.planned = Json::parse(fields.text()).get<std::vector<std::string>>();
  if (const auto kept = fields.maybe_text()) record.kept = keeps_from(*kept);
  record.other_currencies = Json::parse(fields.text()).get<std::set<std::string>>();
  record.revision = fields.number();
  return record;
}

std::optional<SandboxRecord> first_of(const pqxx::result& rows) {
  if (rows.empty()) return std::nullopt;
  return from_row(rows.front());
}

std::vector<SandboxRecord> all_of(const pqxx::result& rows) {
  std::vector<SandboxRecord> records;
  for (const auto& row : rows) records.push_back(from_row(row));
  return records;
}

std::optional<SandboxRecord> find(pqxx::work& tx, const SandboxId& id) {
  static const std::string kSql = "SELECT " + columns() + " FROM sandbox WHERE id = $1";
  return first_of(run_prepared(tx, kSql, id.value));
}

bool any_on(pqxx::work& tx, const std::string& deployment, const std::optional<TenantId>& owner) {
  return run_prepared(tx, R"sql(
    SELECT EXISTS(SELECT FROM sandbox WHERE deployment = $1 AND ended_at IS NULL
        AND ($2 = '' OR tenant = $2))
      OR EXISTS(SELECT FROM sandbox WHERE state IN ('creating', 'stopping') AND deployment = ''
        AND $1 = ANY(planned) AND ($2 = '' OR tenant = $2))
      OR EXISTS(SELECT FROM attempt a JOIN sandbox b ON b.id = a.sandbox WHERE a.deployment = $1
        AND a.resolved_at IS NULL AND a.outcome IN ('unknown', 'lost_race')
        AND a.at > now() - interval '1 hour' AND ($2 = '' OR b.tenant = $2))
      OR EXISTS(SELECT FROM snapshot WHERE deployment = $1 AND ($2 = '' OR tenant = $2)))sql",
                      deployment, owner ? owner->value : "")[0][0]
      .as<bool>();
}

bool lock_deployments(pqxx::work& tx, const TenantId& tenant,
                      const std::vector<std::string>& names) {
  const auto locked = run_prepared(tx, R"sql(
    SELECT FROM deployment WHERE name = ANY($1::text[]) AND (tenant IS NULL OR tenant = $2)
      AND enabled FOR SHARE)sql",
                                   sql_array_of(names), tenant.value);
  return static_cast<size_t>(locked.size()) == names.size();
}

std::vector<SandboxRecord> find_all(pqxx::work& tx, const std::vector<std::string>& ids) {
  static const std::string kSql =
      "SELECT " + columns() + " FROM sandbox WHERE id = ANY($1::text[])";
  return all_of(run_prepared(tx, kSql, sql_array_of(ids)));
}

std::vector<SandboxRecord> expected_on(pqxx::work& tx, const std::string& deployment,
                                       const std::optional<TenantId>& owner) {
  static const std::string kSql = "SELECT " + columns() +
                                  " FROM sandbox WHERE deployment = $1 AND ended_at IS NULL"
                                  " AND state IN ('running', 'paused')"
                                  " AND ($2 = '' OR tenant = $2)";
  return all_of(run_prepared(tx, kSql, deployment, owner ? owner->value : ""));
}

std::vector<SandboxId> on_machine(pqxx::work& tx, const std::string& machine) {
  std::vector<SandboxId> ids;
  for (const auto& row : run_prepared(
           tx, "SELECT id FROM sandbox WHERE ended_at IS NULL AND backend_id = id || '@' || $1",
           machine))
    ids.push_back(SandboxId{row[0].as<std::string>()});
  return ids;
}

std::vector<SandboxRecord> list(pqxx::work& tx, const Filter& filter) {
  std::string sql = "SELECT " + columns() + from_where(tx, filter);
  if (filter.after)
    sql += std::string(" AND (created_at, id) ") + (filter.oldest_first ? ">" : "<") + " (" +
           moment(tx, filter.after->first) + ", " + tx.quote(filter.after->second) + ")";
  const std::string way = filter.oldest_first ? "ASC" : "DESC";
  sql += " ORDER BY created_at " + way + ", id " + way + " LIMIT " + std::to_string(filter.rows);
  auto records = all_of(tx.exec(sql));
  for (SandboxRecord& record : records) {
    const auto end = filter.ending.find(record.id.value);
    if (end == filter.ending.end() || is_ended(record.state)) continue;
    record.state = SandboxState::stopping;
    if (record.ended_reason.empty()) record.ended_reason = end->second;
  }
  return records;
}

int64_t count(pqxx::work& tx, const Filter& filter) {
  return tx.exec1("SELECT count(*)" + from_where(tx, filter))[0].as<int64_t>();
}

std::optional<Json> find_decision(pqxx::work& tx, const SandboxId& id) {
  const auto rows = run_prepared(tx, R"sql(
    SELECT d.document, s.deployment,
      (SELECT coalesce(json_agg(json_build_object('deployment', a.deployment, 'outcome', a.outcome,
          'code', a.code, 'duration_ms', a.duration_ms) ORDER BY a.ordinal), '[]')
        FROM attempt a WHERE a.sandbox = $1)
    FROM sandbox s JOIN decision d ON d.id = s.decision WHERE s.id = $1)sql",
                                 id.value);
  if (rows.empty()) return std::nullopt;
  Json document = Json::parse(rows[0][0].as<std::string>());
  document["attempts"] = Json::parse(rows[0][2].as<std::string>());
  const auto chosen = rows[0][1].as<std::string>();
  document["chosen"] = chosen.empty() ? Json() : Json(chosen);
  return document;
}

Load load_of(pqxx::work& tx, const TenantId& tenant) {
  const auto row = run_prepared(tx, R"sql(
    SELECT live.n, live.v, recent.n
    FROM (SELECT count(*) AS n, coalesce(sum(milli_vcpu), 0)::bigint AS v FROM sandbox
        WHERE tenant = $1 AND ended_at IS NULL) live,
      (SELECT count(*) AS n FROM sandbox
        WHERE tenant = $1 AND created_at > now() - interval '1 minute') recent)sql",
                                tenant.value)
                       .front();
  return {.sandboxes = row[0].as<int64_t>(),
          .milli_vcpu = row[1].as<int64_t>(),
          .created_last_minute = row[2].as<int64_t>()};
}

std::chrono::milliseconds until_fewer_creates(pqxx::work& tx, const TenantId& tenant,
                                              int64_t limit) {
  constexpr std::chrono::minutes never{1};  // a limit of 0 is never met
  if (limit < 1) return never;
  const auto rows = run_prepared(tx, R"sql(
    SELECT 60000 - (extract(epoch from now() - created_at) * 1000)::bigint FROM sandbox
    WHERE tenant = $1 AND created_at > now() - interval '1 minute'
    ORDER BY created_at DESC OFFSET $2::bigint - 1 LIMIT 1)sql",
                                 tenant.value, limit);
  return std::chrono::milliseconds(rows.empty() ? 0 : rows[0][0].as<int64_t>());
}

}  // namespace sandgate::sandbox_rows
