#include "billing/ledger/loss_rows.hpp"

#include "billing/sql_array.hpp"
#include "billing/usage/metered_rows.hpp"
#include "gateway/core/statement.hpp"
#include "gateway/core/words.hpp"

namespace sandgate {
namespace {

constexpr Words kLossReasonWords({Word{LossReason::late_end, "late_end"},
                                  Word{LossReason::orphan, "orphan"}});

constexpr const char* kInsertLosses = R"sql(
WITH booked AS (
  INSERT INTO loss_event (id, meter, interval_start, interval_end, quantity, quantity_before, cost,
    cost_currency, cost_entry, sandbox, backend_id, deployment, provider, region, reason)
  SELECT i.*, $10, $11, $12, $13, $14, $15
  FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::numeric[],
    $6::numeric[], $7::numeric[], $8::text[], $9::bigint[]) AS i
  ON CONFLICT (id) DO NOTHING
  RETURNING cost, cost_currency
)
SELECT cost_currency, sum(cost) FROM booked GROUP BY 1 HAVING sum(cost) > 0 ORDER BY 1)sql";

constexpr const char* kInsertOrphan = R"sql(
INSERT INTO orphan AS o (deployment, owner, backend_id, sandbox, provider, region, placed, state,
  milli_vcpu, memory_mib, disk_gib, since)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::timestamptz)
ON CONFLICT (deployment, owner, backend_id) DO UPDATE SET ended_at = NULL
  WHERE o.ended_at IS NOT NULL)sql";

}  // namespace

std::string_view to_string(LossReason reason) { return kLossReasonWords.of(reason); }

bool is_create_charged(pqxx::work& tx, const MeteredLife& life) {
  return !run_prepared(tx,
                       "SELECT FROM usage_event WHERE interval_start = $1::timestamptz"
                       " AND sandbox = $2 AND meter = 'sandbox_created'",
                       to_rfc3339(life.opened_at), life.id.value)
              .empty();
}

void continue_losses(pqxx::work& tx, MeteredLife& life, const std::string& backend_id) {
  const auto rows = run_prepared(tx,
                                 "SELECT meter, sum(quantity),"
                                 " (extract(epoch FROM max(interval_end)) * 1000000)::bigint"
                                 " FROM loss_event WHERE sandbox = $1 AND backend_id = $2"
                                 " GROUP BY meter",
                                 life.id.value, backend_id);
  for (const auto& row : rows) {
    const auto meter = meter_kind_from(row[0].as<std::string>());
    const Decimal quantity = Decimal::from_sql(row[1].c_str());
    if (meter == MeterKind::vcpu_second) life.vcpu_total += quantity;
    if (meter == MeterKind::memory_gib_second) life.memory_total += quantity;
    if (meter == MeterKind::disk_gib_second) life.disk_total += quantity;
    life.boundary = std::max(life.boundary, from_micros(row[2].as<int64_t>()));
  }
}

std::vector<Money> insert_losses(pqxx::work& tx, const MeteredLife& life,
                                 const std::string& backend_id, LossReason reason,
                                 const std::vector<UsageEvent>& events) {
  SqlArray id, meter, start, end, quantity, before, cost, currency, entry;
  for (const UsageEvent& event : events) {
    id.add(loss_event_id(event, backend_id));
    meter.add(to_string(event.meter));
    start.add(to_rfc3339(event.interval.from));
    end.add(to_rfc3339(event.interval.to));
    quantity.add(event.quantity.to_string());
    before.add(event.before.to_string());
    cost.add(event.rated.cost.amount.to_string());
    currency.add(event.rated.cost.currency);
    entry.add(event.rated.cost_entry);
  }
  const auto rows =
      run_prepared(tx, kInsertLosses, id.str(), meter.str(), start.str(), end.str(), quantity.str(),
                   before.str(), cost.str(), currency.str(), entry.str(), life.id.value, backend_id,
                   life.deployment, life.provider, life.region, std::string(to_string(reason)));
  std::vector<Money> costs;
  for (const auto& row : rows)
    costs.push_back({Decimal::from_sql(row[1].c_str()), row[0].as<std::string>()});
  return costs;
}

void insert_orphan(pqxx::work& tx, const Orphan& orphan) {
  run_prepared(tx, kInsertOrphan, orphan.deployment, orphan.owner, orphan.backend_id,
               orphan.id.value, orphan.provider, orphan.region, orphan.placed,
               std::string(to_string(orphan.state)), orphan.resources.milli_vcpu,
               orphan.resources.memory_mib, orphan.resources.disk_gib, to_rfc3339(orphan.since));
}

std::optional<Orphan> end_orphan(pqxx::work& tx, const std::string& deployment,
                                 const std::string& owner, const std::string& backend_id, Time at) {
  const auto rows = run_prepared(
      tx,
      "UPDATE orphan SET ended_at = $4::timestamptz"
      " WHERE deployment = $1 AND owner = $2 AND backend_id = $3 AND ended_at IS NULL"
      " RETURNING sandbox, provider, region, placed, state, milli_vcpu, memory_mib, disk_gib,"
      " (extract(epoch FROM since) * 1000000)::bigint AS since_micros",
      deployment, owner, backend_id, to_rfc3339(at));
  if (rows.empty()) return std::nullopt;
  const auto& row = rows[0];
  return Orphan{.id = SandboxId{row["sandbox"].as<std::string>()},
                .backend_id = backend_id,
                .deployment = deployment,
                .provider = row["provider"].as<std::string>(),
                .region = row["region"].as<std::string>(),
                .owner = owner,
                .state = meter_state_from(row["state"].as<std::string>()),
                .resources = {.milli_vcpu = row["milli_vcpu"].as<int64_t>(),
                              .memory_mib = row["memory_mib"].as<int64_t>(),
                              .disk_gib = row["disk_gib"].as<int64_t>()},
                .since = from_micros(row["since_micros"].as<int64_t>()),
                .placed = row["placed"].as<bool>()};
}

std::vector<std::string> open_orphans(pqxx::work& tx, const std::string& deployment,
                                      const std::string& owner) {
  std::vector<std::string> ids;
  for (const auto& row : run_prepared(tx,
                                      "SELECT backend_id FROM orphan WHERE deployment = $1"
                                      " AND owner = $2 AND ended_at IS NULL ORDER BY backend_id",
                                      deployment, owner))
    ids.push_back(row[0].as<std::string>());
  return ids;
}

}  // namespace sandgate
