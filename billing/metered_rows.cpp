#include "billing/metered_rows.hpp"

#include "billing/sql_array.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

constexpr const char* kLifeColumns =
    "sandbox, tenant, deployment, provider, region, state, closed_as, own, milli_vcpu, memory_mib,"
    " disk_gib,"
    " (extract(epoch FROM opened_at) * 1000000)::bigint AS opened_micros,"
    " (extract(epoch FROM boundary) * 1000000)::bigint AS boundary_micros,"
    " (SELECT (extract(epoch FROM expires_at) * 1000000)::bigint FROM sandbox s"
    "  WHERE s.id = metered_sandbox.sandbox AND on_expiry = 'kill') AS ends_micros,"
    " vcpu_total, memory_total, disk_total";

MeteredLife life_from(const pqxx::row& row) {
  const auto state = row["state"].as<std::string>();
  return {
      .id = SandboxId{row["sandbox"].as<std::string>()},
      .tenant = row["tenant"].as<std::string>(),
      .deployment = row["deployment"].as<std::string>(),
      .provider = row["provider"].as<std::string>(),
      .region = row["region"].as<std::string>(),
      .state = meter_state_from(state == "closed" ? row["closed_as"].as<std::string>("") : state),
      .closed = state == "closed",
      .own = row["own"].as<bool>(),
      .resources = {.milli_vcpu = row["milli_vcpu"].as<int64_t>(),
                    .memory_mib = row["memory_mib"].as<int64_t>(),
                    .disk_gib = row["disk_gib"].as<int64_t>()},
      .opened_at = from_micros(row["opened_micros"].as<int64_t>()),
      .boundary = from_micros(row["boundary_micros"].as<int64_t>()),
      .ends_at = row["ends_micros"].is_null()
                     ? std::nullopt
                     : std::optional(from_micros(row["ends_micros"].as<int64_t>())),
      .vcpu_total = Decimal::from_sql(row["vcpu_total"].c_str()),
      .memory_total = Decimal::from_sql(row["memory_total"].c_str()),
      .disk_total = Decimal::from_sql(row["disk_total"].c_str())};
}

}  // namespace

std::string_view to_string(MeterState state) {
  switch (state) {
    case MeterState::running:
      return "running";
    case MeterState::paused_memory:
      return "paused_memory";
    case MeterState::paused_disk:
      return "paused_disk";
  }
  return "";
}

MeterState meter_state_from(std::string_view text) {
  if (text == "paused_memory") return MeterState::paused_memory;
  if (text == "paused_disk") return MeterState::paused_disk;
  return MeterState::running;
}

void insert_metered(pqxx::work& tx, const MeteredSandbox& sandbox, Time opened_at) {
  run_prepared(
      tx,
      "INSERT INTO metered_sandbox (sandbox, tenant, profile, profile_version, deployment,"
      " provider, region, metadata, state, milli_vcpu, memory_mib, disk_gib, opened_at, boundary,"
      " observed_at, key, own) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'running', $9, $10, $11,"
      " $12::timestamptz, $12::timestamptz, $12::timestamptz, $13, $14)"
      " ON CONFLICT (sandbox) DO NOTHING",
      sandbox.id.value, sandbox.tenant.value, sandbox.profile, sandbox.profile_version,
      sandbox.deployment, sandbox.provider, sandbox.region, sandbox.metadata.dump(),
      sandbox.resources.milli_vcpu, sandbox.resources.memory_mib, sandbox.resources.disk_gib,
      to_rfc3339(opened_at), sandbox.key, sandbox.own);
}

std::optional<MeteredLife> lock_metered(pqxx::work& tx, const SandboxId& id) {
  const auto rows = run_prepared(
      tx,
      "SELECT " + std::string(kLifeColumns) + " FROM metered_sandbox WHERE sandbox = $1 FOR UPDATE",
      id.value);
  if (rows.empty()) return std::nullopt;
  return life_from(rows[0]);
}

std::vector<MeteredLife> read_open(pqxx::work& tx, const std::optional<TenantId>& tenant,
                                   size_t most) {
  const auto rows = run_prepared(tx,
                                 "SELECT " + std::string(kLifeColumns) +
                                     " FROM metered_sandbox WHERE state <> 'closed'" +
                                     (tenant ? " AND tenant = $1" : " AND $1 = ''") + " LIMIT $2",
                                 tenant ? tenant->value : "", most);
  std::vector<MeteredLife> lives;
  for (const auto& row : rows) lives.push_back(life_from(row));
  return lives;
}

std::vector<MeteredLife> lock_due(pqxx::work& tx, const DueForBooking& due) {
  const auto rows = run_prepared(
      tx,
      "SELECT " + std::string(kLifeColumns) +
          " FROM metered_sandbox WHERE state <> 'closed' AND boundary < $1::timestamptz" +
          (due.tenant.empty() ? " AND $2 = ''" : " AND tenant = $2") +
          " AND sandbox <> ALL ($3::text[])"
          " AND NOT EXISTS (SELECT FROM sandbox s WHERE s.id = metered_sandbox.sandbox"
          "   AND on_expiry = 'kill' AND expires_at <= boundary)"
          " ORDER BY boundary LIMIT $4 FOR UPDATE SKIP LOCKED",
      to_rfc3339(due.booked_before), due.tenant, sql_array_of(due.except), due.limit);
  std::vector<MeteredLife> lives;
  for (const auto& row : rows) lives.push_back(life_from(row));
  return lives;
}

void update_metered(pqxx::work& tx, const std::vector<MeteredLife>& lives) {
  SqlArray sandbox, state, milli_vcpu, memory_mib, disk_gib, boundary, vcpu, memory, disk;
  for (const MeteredLife& life : lives) {
    sandbox.add(life.id.value);
    state.add(life.closed ? "closed" : to_string(life.state));
    milli_vcpu.add(life.resources.milli_vcpu);
    memory_mib.add(life.resources.memory_mib);
    disk_gib.add(life.resources.disk_gib);
    boundary.add(to_rfc3339(life.boundary));
    vcpu.add(life.vcpu_total.to_string());
    memory.add(life.memory_total.to_string());
    disk.add(life.disk_total.to_string());
  }
  run_prepared(
      tx,
      "UPDATE metered_sandbox m SET state = u.state, milli_vcpu = u.milli_vcpu,"
      " memory_mib = u.memory_mib, disk_gib = u.disk_gib, boundary = u.boundary,"
      " vcpu_total = u.vcpu, memory_total = u.memory, disk_total = u.disk,"
      " closed_as = CASE WHEN u.state = 'closed' THEN m.state END"
      " FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[],"
      " $6::timestamptz[], $7::numeric[], $8::numeric[], $9::numeric[])"
      " AS u (sandbox, state, milli_vcpu, memory_mib, disk_gib, boundary, vcpu, memory, disk)"
      " WHERE m.sandbox = u.sandbox",
      sandbox.str(), state.str(), milli_vcpu.str(), memory_mib.str(), disk_gib.str(),
      boundary.str(), vcpu.str(), memory.str(), disk.str());
}

}  // namespace sandgate
