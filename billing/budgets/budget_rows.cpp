#include "billing/budgets/budget_rows.hpp"

#include "billing/prices/price_rows.hpp"
#include "billing/sql_array.hpp"
#include "gateway/core/sql_time.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

constexpr const char* kBudgetColumns =
    "id, tenant, name, amount, currency, time_window, timezone, on_exceeded, credits,"
    " to_json(alert_at) AS alert_at, applies_to, spent, reserved, alerted, told_exceeded,"
    " (extract(epoch FROM window_start) * 1000000)::bigint AS start_micros,"
    " (extract(epoch FROM window_end) * 1000000)::bigint AS end_micros";

Budget budget_from(const pqxx::row& row) {
  Budget budget{.id = row["id"].as<int64_t>(),
                .tenant = row["tenant"].as<std::string>(),
                .name = row["name"].as<std::string>(),
                .amount = Decimal::from_sql(row["amount"].c_str()),
                .currency = row["currency"].as<std::string>(),
                .timezone = row["timezone"].as<std::string>(),
                .alert_at = Json::parse(row["alert_at"].c_str()).get<std::vector<int>>(),
                .applies_to = budget_scope_from(Json::parse(row["applies_to"].c_str())),
                .credits = Decimal::from_sql(row["credits"].c_str()),
                .window_start = from_micros(row["start_micros"].as<int64_t>()),
                .spent = Decimal::from_sql(row["spent"].c_str()),
                .reserved = Decimal::from_sql(row["reserved"].c_str()),
                .alerted = row["alerted"].as<int>(),
                .told_exceeded = row["told_exceeded"].as<bool>()};
  budget.window = budget_window_from(row["time_window"].c_str()).value_or(BudgetWindow::total);
  budget.on_exceeded = on_exceeded_from(row["on_exceeded"].c_str()).value_or(OnExceeded::deny);
  if (!row["end_micros"].is_null())
    budget.window_end = from_micros(row["end_micros"].as<int64_t>());
  return budget;
}

// The window of the budget `b` around the moment $2, and the charges of it.
const std::string kNewStart = "budget_window_start(b.time_window, b.timezone, $2::timestamptz)";
const std::string kNewEnd = "budget_window_end(b.time_window, b.timezone, $2::timestamptz)";
const std::string kNewSpent =
    "(SELECT coalesce(sum(charge), 0) FROM usage_event e"
    " JOIN metered_sandbox m USING (sandbox) WHERE e.tenant = b.tenant"
    " AND budget_subject(m.profile, m.key, m.metadata) @> b.applies_to"
    " AND e.charge_currency = b.currency AND e.interval_start >= " +
    kNewStart + " AND e.interval_start < " + kNewEnd + ")";

// The budget is locked, so nothing is booked against it meanwhile.
Budget roll_window(pqxx::work& tx, const Budget& budget, Time at) {
  return budget_from(tx.exec_params1(
      "UPDATE budget b SET window_start = " + kNewStart + ", window_end = " + kNewEnd +
          ", alerted = 0, told_exceeded = false, spent = " + kNewSpent +
          " WHERE id = $1 RETURNING " + kBudgetColumns,
      budget.id, to_rfc3339(at)));
}

std::vector<Budget> in_their_windows(pqxx::work& tx, const pqxx::result& rows, Time at) {
  std::vector<Budget> budgets;
  for (const auto& row : rows) {
    budgets.push_back(budget_from(row));
    Budget& budget = budgets.back();
    if (budget.window_end && at >= *budget.window_end) budget = roll_window(tx, budget, at);
  }
  return budgets;
}

Json event_data(const Budget& budget, int threshold) {
  return {{"budget", budget.name},
          {"threshold", threshold},
          {"spent", budget.spent.to_string()},
          {"amount", budget.amount.to_string()},
          {"currency", budget.currency}};
}

void insert_event(pqxx::work& tx, const Budget& budget, const std::string& type, const Json& data) {
  run_prepared(tx, "INSERT INTO budget_event (tenant, type, data) VALUES ($1, $2, $3)",
               budget.tenant, type, data.dump());
}

}  // namespace

LockedBudgets lock_tenant_budgets(pqxx::work& tx, const std::string& tenant, const Clock* clock) {
  // The clock is read after the function has returned, with its locks held.
  static const std::string kSql =
      "SELECT " + std::string(kBudgetColumns) + ", " + sql_micros("clock_timestamp()") +
      " AS now_micros FROM hold_budgets(" + std::to_string(kRatingLock) + ", $1)";
  const auto rows = run_prepared(tx, kSql, tenant);
  if (rows.empty()) return {};
  const Time now = clock ? clock->now() : from_micros(rows[0]["now_micros"].as<int64_t>());
  return {now, in_their_windows(tx, rows, now)};
}

std::vector<Budget> lock_budgets(pqxx::work& tx, const std::set<std::string>& tenants, Time at) {
  const auto rows = run_prepared(tx,
                                 "SELECT " + std::string(kBudgetColumns) +
                                     " FROM budget WHERE tenant = ANY ($1::text[])"
                                     " ORDER BY id FOR UPDATE",
                                 sql_array_of(tenants));
  return in_their_windows(tx, rows, at);
}

std::vector<Budget> read_budgets(pqxx::work& tx, const std::string& tenant,
                                 std::optional<Time> at) {
  // One statement, hence one snapshot: no booking is seen in one of the sums alone.
  static const std::string kSql =
      "SELECT " + std::string(kBudgetColumns) +
      " FROM (SELECT b.id, b.tenant, b.name, b.amount, b.currency, b.time_window, b.timezone,"
      " b.on_exceeded, b.credits, b.alert_at, b.applies_to, b.reserved,"
      " CASE WHEN past THEN " +
      kNewStart + " ELSE b.window_start END AS window_start, CASE WHEN past THEN " + kNewEnd +
      " ELSE b.window_end END AS window_end, CASE WHEN past THEN " + kNewSpent +
      " ELSE b.spent END AS spent, CASE WHEN past THEN 0 ELSE b.alerted END AS alerted,"
      " b.told_exceeded AND NOT past AS told_exceeded FROM budget b,"
      " LATERAL (SELECT coalesce(b.window_end <= $2::timestamptz, false) AS past) w"
      " WHERE b.tenant = $1) b ORDER BY name COLLATE \"C\"";
  std::vector<Budget> budgets;
  for (const auto& row : run_prepared(tx, kSql, tenant, optional_rfc3339(at).value_or("now")))
    budgets.push_back(budget_from(row));
  return budgets;
}

void update_budgets(pqxx::work& tx, const std::vector<Budget>& budgets) {
  SqlArray id, spent, reserved, alerted, told_exceeded;
  for (const Budget& budget : budgets) {
    id.add(budget.id);
    spent.add(budget.spent.to_string());
    reserved.add(budget.reserved.to_string());
    alerted.add(int64_t{budget.alerted});
    told_exceeded.add(budget.told_exceeded ? "true" : "false");
  }
  run_prepared(tx,
               "UPDATE budget b SET spent = u.spent, reserved = u.reserved, alerted = u.alerted,"
               " told_exceeded = u.told_exceeded"
               " FROM unnest($1::bigint[], $2::numeric[], $3::numeric[], $4::int[], $5::bool[])"
               " AS u (id, spent, reserved, alerted, told_exceeded) WHERE b.id = u.id",
               id.str(), spent.str(), reserved.str(), alerted.str(), told_exceeded.str());
}

void emit_threshold_events(pqxx::work& tx, std::vector<Budget>& budgets) {
  for (Budget& budget : budgets)
    for (const int threshold : thresholds_crossed(budget)) {
      const auto& wanted = budget.alert_at;
      if (std::find(wanted.begin(), wanted.end(), threshold) != wanted.end())
        insert_event(tx, budget, "budget.alert", event_data(budget, threshold));
      if (threshold == 100) emit_exceeded_event(tx, budget);
      budget.alerted = threshold;
    }
}

void emit_exceeded_event(pqxx::work& tx, Budget& budget) {
  if (budget.told_exceeded) return;
  // Reservations of running sandboxes may use the budget up before their usage is booked.
  const bool is_booked = budget.spent >= budget.allowance();
  const Decimal reserved = is_booked ? Decimal() : budget.reserved;
  Json data = event_data(budget, 100);
  data["spent"] = (budget.spent + reserved).to_string();
  data["reserved"] = reserved.to_string();
  insert_event(tx, budget, "budget.exceeded", data);
  budget.told_exceeded = true;
}

}  // namespace sandgate
