#include "billing/usage/metered_rows.hpp"

#include "billing/sql_array.hpp"
#include "gateway/core/statement.hpp"
#include "gateway/core/words.hpp"

namespace sandgate {
namespace {

constexpr Words kMeterStateWords({Word{MeterState::running, "running"},
                                  Word{MeterState::paused_memory, "paused_memory"},
                                  Word{MeterState::paused_disk, "paused_disk"}});
constexpr int64_t kBookingLock = 2750314885501973261;  // an advisory lock

// The sandbox of a metered row, where nothing is charged beyond its time to live.
const std::string kEndsAtExpiry =
    " FROM sandbox s WHERE s.id = metered_sandbox.sandbox AND (on_expiry = 'kill'"
    " OR 'running' IN (metered_sandbox.state, metered_sandbox.closed_as))";

const std::string kLifeColumns =
    "sandbox, tenant, deployment, provider, region, state, closed_as, own, milli_vcpu, memory_mib,"
    " disk_gib,"
    " (extract(epoch FROM opened_at) * 1000000)::bigint AS opened_micros,"
    " (extract(epoch FROM boundary) * 1000000)::bigint AS boundary_micros,"
    " (extract(epoch FROM unbooked_end) * 1000000)::bigint AS unbooked_micros,"
    " vcpu_total, memory_total, disk_total,"
    " (SELECT (extract(epoch FROM expires_at) * 1000000)::bigint" +
    kEndsAtExpiry + ") AS ends_micros";

std::optional<Time> time_in(const pqxx::field& micros) {
  return micros.is_null() ? std::nullopt : std::optional(from_micros(micros.as<int64_t>()));
}

MeteredLife life_from(const pqxx::row& row) {
  const auto state = row["state"].as<std::string>();
  return {
      .id = SandboxId{row["sandbox"].as<std::string>()},
      .tenant = row["tenant"].as<std::string>(),
      .deployment = row["deployment"].as<std::string>(),
      .provider = row["provider"].as<std::string>(),
      .region = row["region"].as<std::string>(),
      .state = meter_state_from(state == "closed" ? row["closed_as"].as<std::string>("") : state),
      .closed = state == "closed" && row["unbooked_micros"].is_null(),
      .own = row["own"].as<bool>(),
      .resources = {.milli_vcpu = row["milli_vcpu"].as<int64_t>(),
                    .memory_mib = row["memory_mib"].as<int64_t>(),
                    .disk_gib = row["disk_gib"].as<int64_t>()},
      .opened_at = from_micros(row["opened_micros"].as<int64_t>()),
      .boundary = from_micros(row["boundary_micros"].as<int64_t>()),
      .ends_at = time_in(row["ends_micros"]),
      .unbooked_end = time_in(row["unbooked_micros"]),
      .vcpu_total = Decimal::from_sql(row["vcpu_total"].c_str()),
      .memory_total = Decimal::from_sql(row["memory_total"].c_str()),
      .disk_total = Decimal::from_sql(row["disk_total"].c_str())};
}

constexpr const char* kCounterColumns =
    "egress_bytes_seen, cpu_micros_seen, egress_total, cpu_total, final_egress_bytes,"
    " final_cpu_micros, (extract(epoch FROM final_read_at) * 1000000)::bigint AS final_micros,"
    " (extract(epoch FROM observed_at) * 1000000)::bigint AS observed_micros,"
    " (extract(epoch FROM counters_at) * 1000000)::bigint AS read_micros,"
    " (extract(epoch FROM paused_from) * 1000000)::bigint AS paused_micros,"
    " (extract(epoch FROM resumed_at) * 1000000)::bigint AS resumed_micros";

MeteredCounters counters_from(const pqxx::row& row) {
  return {.observed_at = from_micros(row["observed_micros"].as<int64_t>()),
          .read_at = from_micros(row["read_micros"].as<int64_t>()),
          .paused_from = time_in(row["paused_micros"]),
          .resumed_at = time_in(row["resumed_micros"]),
          .egress_bytes_seen = row["egress_bytes_seen"].as<int64_t>(),
          .cpu_micros_seen = row["cpu_micros_seen"].as<int64_t>(),
          .egress_total = Decimal::from_sql(row["egress_total"].c_str()),
          .cpu_total = Decimal::from_sql(row["cpu_total"].c_str())};
}

std::optional<int64_t> number_in(const pqxx::field& number) {
  return number.is_null() ? std::nullopt : std::optional(number.as<int64_t>());
}

std::optional<Meter::Measured> last_from(const pqxx::row& row) {
  const auto sampled_at = time_in(row["final_micros"]);
  if (!sampled_at) return std::nullopt;
  return Meter::Measured{.egress_bytes = number_in(row["final_egress_bytes"]),
                         .active_cpu_micros = number_in(row["final_cpu_micros"]),
                         .sampled_at = *sampled_at};
}

MeteredRow row_from(const pqxx::row& row) {
  return {life_from(row), counters_from(row), last_from(row), row["has_budgets"].as<bool>()};
}

const std::string kRow =
    "SELECT " + kLifeColumns + ", " + kCounterColumns +
    ", EXISTS (SELECT FROM budget b WHERE b.tenant = metered_sandbox.tenant) AS has_budgets"
    " FROM metered_sandbox ";

std::optional<MeteredRow> only_from(const pqxx::result& rows) {
  return rows.empty() ? std::nullopt : std::optional(row_from(rows[0]));
}

std::vector<MeteredRow> rows_from(const pqxx::result& rows) {
  std::vector<MeteredRow> found;
  for (const auto& row : rows) found.push_back(row_from(row));
  return found;
}

const std::string kUnbookedEnds =
    kRow + "WHERE unbooked_end IS NOT NULL AND ($1 = '' OR tenant = $1) LIMIT $2";

// Not on a machine that gave no sign of life for a minute: if it is lost, the charge ends there.
// One look by key for each row, whatever the planner thinks of the number of machines.
const std::string kHeard =
    " AND coalesce((SELECT seen_at FROM sandbox s"
    "  JOIN machine ON name = split_part(s.backend_id, '@', 2)"
    "  WHERE s.id = metered_sandbox.sandbox), now()) > now() - interval '1 minute'";

std::string state_text(const MeteredLife& life) {
  return std::string(life.closed || life.unbooked_end ? "closed" : to_string(life.state));
}

}  // namespace

std::string_view to_string(MeterState state) { return kMeterStateWords.of(state); }

MeterState meter_state_from(std::string_view text) {
  return kMeterStateWords.find(text).value_or(MeterState::running);
}

std::string metered_insert(const std::string& values) {
  return "INSERT INTO metered_sandbox (sandbox, tenant, profile, profile_version, deployment,"
         " provider, region, metadata, milli_vcpu, memory_mib, disk_gib, opened_at, boundary,"
         " observed_at, key, own, state) SELECT " +
         values + ", 'running'";
}

void insert_metered(pqxx::work& tx, const MeteredSandbox& sandbox, std::optional<Time> opened_at) {
  static const std::string kSql =
      metered_insert("$1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10, $11, at, at, at, $13, $14") +
      " FROM (SELECT coalesce($12, clock_timestamp())) AS opened(at)"
      " ON CONFLICT (sandbox) DO NOTHING";
  run_prepared(tx, kSql, sandbox.id.value, sandbox.tenant.value, sandbox.profile,
               sandbox.profile_version, sandbox.deployment, sandbox.provider, sandbox.region,
               sandbox.metadata.dump(), sandbox.resources.milli_vcpu, sandbox.resources.memory_mib,
               sandbox.resources.disk_gib, optional_rfc3339(opened_at), sandbox.key, sandbox.own);
}

std::optional<MeteredRow> lock_metered(pqxx::work& tx, const SandboxId& id) {
  static const std::string kSql = kRow + "WHERE sandbox = $1 FOR UPDATE";
  return only_from(run_prepared(tx, kSql, id.value));
}

std::optional<MeteredRow> read_metered(pqxx::work& tx, const SandboxId& id) {
  static const std::string kSql = kRow + "WHERE sandbox = $1";
  return only_from(run_prepared(tx, kSql, id.value));
}

std::vector<MeteredRow> read_metered(pqxx::work& tx, const std::set<std::string>& sandboxes) {
  static const std::string kSql = kRow + "WHERE sandbox = ANY ($1::text[])";
  return rows_from(run_prepared(tx, kSql, sql_array_of(sandboxes)));
}

void note_missed(pqxx::work& tx, const SandboxId& id) {
  run_prepared(tx,
               "UPDATE metered_sandbox SET counters_at = opened_at"
               " WHERE sandbox = $1 AND counters_at = 'epoch'",
               id.value);
}

void lock_booking(pqxx::work& tx) {
  tx.exec("SELECT pg_advisory_xact_lock_shared(" + std::to_string(kBookingLock) + ")");
}

void await_bookings(pqxx::work& tx) {
  // A booking may outlast the lock timeout; the time limit of the caller's work applies.
  tx.exec("SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(" +
          std::to_string(kBookingLock) + ")");
}

bool has_unbooked_ends(pqxx::work& tx, const std::string& tenant, Time until) {
  return run_prepared(tx,
                      "SELECT EXISTS (SELECT FROM metered_sandbox WHERE unbooked_end IS NOT NULL"
                      " AND unbooked_end <= $2::timestamptz AND ($1 = '' OR tenant = $1))",
                      tenant, to_rfc3339(until))[0][0]
      .as<bool>();
}

std::vector<MeteredRow> lock_unbooked_ends(pqxx::work& tx, const std::string& tenant, size_t most) {
  static const std::string kSql = kUnbookedEnds + " FOR UPDATE SKIP LOCKED";
  return rows_from(run_prepared(tx, kSql, tenant, most));
}

std::vector<MeteredRow> read_unbooked_ends(pqxx::work& tx, const std::string& tenant, size_t most) {
  return rows_from(run_prepared(tx, kUnbookedEnds, tenant, most));
}

void update_metered(pqxx::work& tx, const MeteredRow& row) {
  const MeteredLife& life = row.life;
  const MeteredCounters& counters = row.counters;
  run_prepared(tx, R"sql(
    UPDATE metered_sandbox SET state = $2, milli_vcpu = $3, memory_mib = $4, disk_gib = $5,
      boundary = $6::timestamptz, vcpu_total = $7::numeric, memory_total = $8::numeric,
      disk_total = $9::numeric,
      closed_as = CASE WHEN $2 = 'closed' AND state <> 'closed' THEN state ELSE closed_as END,
      observed_at = $10::timestamptz, egress_bytes_seen = $11, cpu_micros_seen = $12,
      egress_total = $13::numeric, cpu_total = $14::numeric, counters_at = $15::timestamptz,
      paused_from = $16::timestamptz, resumed_at = $17::timestamptz,
      unbooked_end = $18::timestamptz
    WHERE sandbox = $1)sql",
               life.id.value, state_text(life), life.resources.milli_vcpu,
               life.resources.memory_mib, life.resources.disk_gib, to_rfc3339(life.boundary),
               life.vcpu_total.to_string(), life.memory_total.to_string(),
               life.disk_total.to_string(), to_rfc3339(counters.observed_at),
               counters.egress_bytes_seen, counters.cpu_micros_seen,
               counters.egress_total.to_string(), counters.cpu_total.to_string(),
               to_rfc3339(counters.read_at), optional_rfc3339(counters.paused_from),
               optional_rfc3339(counters.resumed_at), optional_rfc3339(life.unbooked_end));
}

std::vector<MeteredLife> read_open(pqxx::work& tx, const std::optional<TenantId>& tenant,
                                   size_t most) {
  const auto rows =
      run_prepared(tx,
                   "SELECT " + kLifeColumns + " FROM metered_sandbox WHERE state <> 'closed'" +
                       (tenant ? " AND tenant = $1" : " AND $1 = ''") + " LIMIT $2",
                   tenant ? tenant->value : "", most);
  std::vector<MeteredLife> lives;
  for (const auto& row : rows) lives.push_back(life_from(row));
  return lives;
}

std::vector<MeteredRow> lock_due(pqxx::work& tx, const DueForBooking& due) {
  return rows_from(
      run_prepared(tx,
                   kRow + "WHERE state <> 'closed' AND boundary < $1::timestamptz" +
                       (due.tenant.empty() ? " AND $2 = ''" + kHeard : " AND tenant = $2") +
                       " AND sandbox <> ALL ($3::text[])"
                       " AND NOT EXISTS (SELECT" +
                       kEndsAtExpiry + " AND expires_at <= boundary)" +
                       " ORDER BY boundary LIMIT $4 FOR UPDATE SKIP LOCKED",
                   to_rfc3339(due.booked_before), due.tenant, sql_array_of(due.except), due.limit));
}

void advance_metered(pqxx::work& tx, const std::vector<MeteredRow>& rows) {
  SqlArray sandbox, boundary, vcpu, memory, disk;
  for (const MeteredRow& row : rows) {
    const MeteredLife& life = row.life;
    sandbox.add(life.id.value);
    boundary.add(to_rfc3339(life.boundary));
    vcpu.add(life.vcpu_total.to_string());
    memory.add(life.memory_total.to_string());
    disk.add(life.disk_total.to_string());
  }
  run_prepared(tx,
               "UPDATE metered_sandbox m SET boundary = u.boundary, vcpu_total = u.vcpu,"
               " memory_total = u.memory, disk_total = u.disk"
               " FROM unnest($1::text[], $2::timestamptz[], $3::numeric[], $4::numeric[],"
               " $5::numeric[]) AS u (sandbox, boundary, vcpu, memory, disk)"
               " WHERE m.sandbox = u.sandbox",
               sandbox.str(), boundary.str(), vcpu.str(), memory.str(), disk.str());
}

}  // namespace sandgate
