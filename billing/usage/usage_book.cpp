#include "billing/usage/usage_book.hpp"

#include <set>

#include "billing/sql_array.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

struct Columns {
  SqlArray id, sandbox, meter, start, end, quantity, before;
  SqlArray cost, cost_currency, cost_entry, charge, charge_currency, charge_entry, markup_version;

  explicit Columns(const std::vector<UsageEvent>& events) {
    for (const UsageEvent& event : events) add(event);
  }

  void add(const UsageEvent& event) {
    id.add(usage_event_id(event));
    sandbox.add(event.sandbox.value);
    meter.add(to_string(event.meter));
    start.add(to_rfc3339(event.interval.from));
    end.add(to_rfc3339(event.interval.to));
    quantity.add(event.quantity.to_string());
    before.add(event.before.to_string());
    cost.add(event.rated.cost.amount.to_string());
    cost_currency.add(event.rated.cost.currency);
    cost_entry.add(event.rated.cost_entry);
    charge.add(event.rated.charge.amount.to_string());
    charge_currency.add(event.rated.charge.currency);
    charge_entry.add(event.rated.charge_entry);
    markup_version.add(event.rated.markup_version);
  }
};

// Sorted, so that two writers lock the rows of the sums in the same order.
constexpr const char* kRecord = R"sql(
WITH input AS (
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[],
    $6::numeric[], $7::numeric[], $8::numeric[], $9::text[], $10::bigint[], $11::numeric[],
    $12::text[], $13::bigint[], $14::bigint[])
  AS i (id, sandbox, meter, interval_start, interval_end, quantity, quantity_before,
    cost, cost_currency, cost_entry, charge, charge_currency, charge_entry, markup_version)
), booked AS (
  INSERT INTO usage_event (id, interval_start, interval_end, sandbox, tenant, profile,
    profile_version, deployment, provider, region, meter, quantity, quantity_before,
    cost, cost_currency, cost_entry, charge, charge_currency, charge_entry, markup_version)
  SELECT i.id, i.interval_start, i.interval_end, i.sandbox, m.tenant, m.profile,
    m.profile_version, m.deployment, m.provider, m.region, i.meter, i.quantity, i.quantity_before,
    i.cost, i.cost_currency, i.cost_entry, i.charge, i.charge_currency, i.charge_entry,
    i.markup_version
  FROM input i JOIN metered_sandbox m USING (sandbox)
  ON CONFLICT (interval_start, id) DO NOTHING
  RETURNING *
), summed AS (
  INSERT INTO usage_rollup AS r
  SELECT tenant, (interval_start AT TIME ZONE 'UTC')::date, profile, deployment, provider, meter,
    cost_currency, charge_currency, pg_backend_pid() % 16, sum(quantity), sum(cost), sum(charge),
    count(*)
  FROM booked GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
  ON CONFLICT (tenant, day, profile, deployment, provider, meter, cost_currency, charge_currency,
    shard)
  DO UPDATE SET quantity = r.quantity + excluded.quantity, cost = r.cost + excluded.cost,
    charge = r.charge + excluded.charge, events = r.events + excluded.events
), moved AS MATERIALIZED (
  SELECT nextval(pg_get_serial_sequence('ledger_transfer', 'id')) AS id, sums.* FROM (
    SELECT charge_currency AS currency, tenant, 'tenant/' || tenant || '/receivable' AS debit,
      'revenue' AS credit, sum(charge) AS amount
    FROM booked GROUP BY 1, 2 HAVING sum(charge) > 0
    UNION ALL
    SELECT cost_currency, NULL, 'cost', 'vendor/' || deployment || '/payable', sum(cost)
    FROM booked GROUP BY 1, 4 HAVING sum(cost) > 0) sums
), transfers AS (
  INSERT INTO ledger_transfer (id, currency, reason, tenant)
  SELECT id, currency, 'usage', tenant FROM moved
), entries AS (
  INSERT INTO ledger_entry (transfer, position, account, debit, credit)
  SELECT id, 1, debit, amount, 0 FROM moved UNION ALL SELECT id, 2, credit, 0, amount FROM moved
)
SELECT count(*), CASE WHEN count(*) <> cardinality($1::uuid[])
  THEN to_json(array_agg(id)) END AS ids FROM booked)sql";

// Selects one of the given events that is booked with other content, or not at all.
constexpr const char* kContradicted = R"sql(
SELECT i.sandbox, i.meter, e.interval_start, e.quantity AS booked, i.quantity AS claimed
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::numeric[])
  AS i (id, sandbox, meter, interval_start, interval_end, quantity)
LEFT JOIN usage_event e USING (interval_start, id)
WHERE e.id IS NULL OR (e.interval_end, e.quantity, e.sandbox, e.meter)
  IS DISTINCT FROM (i.interval_end, i.quantity, i.sandbox, i.meter)
LIMIT 1)sql";

// Throws Error(conflict), as UsageBook::record() promises, when an event contradicts the books.
void check_contradictions(pqxx::work& tx, const Columns& c, std::atomic<uint64_t>& conflicts) {
  const auto contradicted =
      tx.exec_params(kContradicted, c.id.str(), c.sandbox.str(), c.meter.str(), c.start.str(),
                     c.end.str(), c.quantity.str());
  if (contradicted.empty()) return;
  ++conflicts;
  const auto sandbox = contradicted[0]["sandbox"].as<std::string>();
  log::error("usage contradicts what is booked",
             {{"sandbox", sandbox},
              {"meter", contradicted[0]["meter"].as<std::string>()},
              {"interval_start", contradicted[0]["interval_start"].as<std::string>("not booked")},
              {"booked", contradicted[0]["booked"].as<std::string>("")},
              {"claimed", contradicted[0]["claimed"].as<std::string>()}});
  Error error(ErrorCode::conflict, "usage of sandbox " + sandbox + " contradicts what is booked");
  error.details = {{"sandbox", sandbox}};
  throw error;
}

// The events whose ids are in a JSON array, each id once.
std::vector<UsageEvent> only(const std::vector<UsageEvent>& events, const std::string& ids) {
  std::set<std::string> wanted;
  for (const Json& id : Json::parse(ids)) wanted.insert(id.get<std::string>());
  std::vector<UsageEvent> some;
  for (const UsageEvent& event : events)
    if (wanted.erase(usage_event_id(event)) > 0) some.push_back(event);
  return some;
}

}  // namespace

size_t UsageBook::record(pqxx::work& tx, const std::vector<UsageEvent>& events, bool has_budgets,
                         const BookingProgressMap& to) {
  if (events.empty()) return 0;
  const Columns c(events);
  BudgetPosting posting;
  if (has_budgets) posting.lock(tx, events);
  const auto row = run_prepared(
      tx, kRecord, c.id.str(), c.sandbox.str(), c.meter.str(), c.start.str(), c.end.str(),
      c.quantity.str(), c.before.str(), c.cost.str(), c.cost_currency.str(), c.cost_entry.str(),
      c.charge.str(), c.charge_currency.str(), c.charge_entry.str(), c.markup_version.str())[0];
  const size_t booked = row[0].as<size_t>();
  if (booked == events.size()) {
    posting.charge(tx, events, to);
    return booked;
  }
  check_contradictions(tx, c, conflicts_);
  if (booked > 0) posting.charge(tx, only(events, row["ids"].as<std::string>()), to);
  return booked;
}

}  // namespace sandgate
