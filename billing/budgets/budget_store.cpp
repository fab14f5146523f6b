#include "billing/budgets/budget_store.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "billing/budgets/budget_rows.hpp"
#include "billing/budgets/budget_shares.hpp"
#include "billing/budgets/funds.hpp"
#include "billing/invoices/credits.hpp"
#include "billing/invoices/invoice_rows.hpp"
#include "billing/known_tenant.hpp"
#include "billing/ledger/ledger.hpp"
#include "billing/prices/price_rows.hpp"
#include "billing/timezone.hpp"
#include "billing/usage/booking_watermark.hpp"
#include "gateway/core/notifications.hpp"
#include "gateway/core/sql_time.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::seconds kBudgetTimeout{30};

// The charges of the part of a budget's window that is counted by events, of bookings up to number
// `through`.
struct Counted {
  int64_t through = 0;
  Time window_start;
  std::string spent = "0";  // as SQL text
};

// Up to when single events are counted, as SQL text. The whole days (UTC) after it are taken from
// the sums by day, unless the scope selects by key or metadata, which those sums do not have.
std::string events_until(const BudgetScope& scope, Time window_start) {
  const bool has_sums = !scope.key && scope.metadata.empty();
  return has_sums ? to_rfc3339(std::chrono::ceil<std::chrono::days>(window_start)) : "infinity";
}

// Of the window around the moment; empty: around now.
Time window_start(pqxx::work& tx, const Budget& budget, std::optional<Time> around = {}) {
  const auto row = tx.exec_params1(
      "SELECT " + sql_micros("budget_window_start($1, $2, coalesce($3::timestamptz,"
                             " clock_timestamp()))"),
      std::string(to_string(budget.window)), budget.timezone, optional_rfc3339(around));
  return from_micros(row[0].as<int64_t>());
}

constexpr const char* kCount = R"sql(
SELECT coalesce(sum(charge), 0) FROM usage_event e JOIN metered_sandbox m USING (sandbox)
WHERE e.tenant = $1 AND charge_currency = $2 AND sequence <= $3
  AND interval_start >= $4::timestamptz AND interval_start < $5::timestamptz
  AND budget_subject(m.profile, m.key, m.metadata) @> $6::jsonb)sql";

Counted count_spent(pqxx::work& tx, const Budget& budget, int64_t through) {
  Counted counted{.through = through, .window_start = window_start(tx, budget)};
  counted.spent = tx.exec_params1(kCount, budget.tenant, budget.currency, through,
                                  to_rfc3339(counted.window_start),
                                  events_until(budget.applies_to, counted.window_start),
                                  to_json(budget.applies_to).dump())[0]
                      .as<std::string>();
  return counted;
}

// When a new window began since the count, all of it is counted again: it holds little yet.
Counted still_right(pqxx::work& tx, const Budget& budget, Time now, Counted counted) {
  const Time start = window_start(tx, budget, now);
  return start == counted.window_start ? std::move(counted) : Counted{.window_start = start};
}

// Recomputes the counters, so that a changed window or currency gives the same as a new budget.
constexpr const char* kPut = R"sql(
INSERT INTO budget AS b (tenant, name, amount, currency, time_window, timezone, on_exceeded,
  alert_at, applies_to, window_start, window_end, credits, spent, reserved)
SELECT $1, $2, $3::numeric, $4, $5, $6, $7, $8::int[], $10::jsonb,
  budget_window_start($5, $6, $9::timestamptz), budget_window_end($5, $6, $9::timestamptz),
  CASE WHEN $5 = 'total' THEN (SELECT coalesce(sum(credit), 0) FROM ledger_entry
    JOIN ledger_transfer t ON t.id = transfer
    WHERE account = 'tenant/' || $1 || '/credits' AND t.currency = $4) ELSE 0 END,
  $11::numeric + (SELECT coalesce(sum(charge), 0) FROM usage_event e
    JOIN metered_sandbox m USING (sandbox)
    WHERE e.tenant = $1 AND charge_currency = $4 AND sequence > $12
    AND budget_subject(m.profile, m.key, m.metadata) @> $10::jsonb
    AND interval_start >= budget_window_start($5, $6, $9::timestamptz)
    AND interval_start < least($13::timestamptz, budget_window_end($5, $6, $9::timestamptz)))
  + (SELECT coalesce(sum(charge), 0) FROM usage_rollup
    WHERE tenant = $1 AND charge_currency = $4
    AND profile = coalesce($10::jsonb ->> 'profile', profile)
    AND day >= ($13::timestamptz AT TIME ZONE 'UTC')::date
    AND day <= coalesce((budget_window_end($5, $6, $9::timestamptz) AT TIME ZONE 'UTC')::date,
      'infinity')),
  (SELECT coalesce(sum(held), 0) FROM reservation WHERE tenant = $1 AND currency = $4
    AND subject @> $10::jsonb)
ON CONFLICT (tenant, name) DO UPDATE SET amount = excluded.amount, currency = excluded.currency,
  time_window = excluded.time_window, timezone = excluded.timezone,
  on_exceeded = excluded.on_exceeded, alert_at = excluded.alert_at,
  applies_to = excluded.applies_to,
  window_start = excluded.window_start, window_end = excluded.window_end,
  credits = excluded.credits, spent = excluded.spent, reserved = excluded.reserved,
  (alerted, told_exceeded) = (SELECT CASE WHEN same THEN b.alerted ELSE 0 END,
      same AND b.told_exceeded
    FROM (SELECT b.amount = excluded.amount AND b.time_window = excluded.time_window
      AND b.currency = excluded.currency AND b.applies_to = excluded.applies_to AS same) s)
RETURNING id)sql";

// Whether a sandbox is paused, by its id: of those for which the budget holds money.
std::map<std::string, bool> held_for(pqxx::work& tx, const Budget& budget) {
  std::map<std::string, bool> paused;
  for (const auto& row : tx.exec_params(
           "SELECT sandbox, coalesce(state IN ('paused_memory', 'paused_disk'), false)"
           " FROM reservation r LEFT JOIN metered_sandbox m USING (sandbox) WHERE r.tenant = $1"
           " AND currency = $2 AND held > 0 AND subject @> $3::jsonb",
           budget.tenant, budget.currency, to_json(budget.applies_to).dump()))
    paused[row[0].as<std::string>()] = row[1].as<bool>();
  return paused;
}

// Takes `excess` back, as fair_cuts() does. Returns what is still to be taken from others.
Decimal cut(std::vector<Budget>& budgets, std::span<Reservation> reservations, Decimal excess,
            Time lowest) {
  if (excess.is_zero()) return excess;
  const auto parts = fair_cuts(reservations, excess, lowest);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].is_zero()) continue;
    Reservation& reservation = reservations[i];
    reservation.held -= parts[i];
    reservation.reprice = true;
    reservation.covered_until -= lasts(parts[i], reservation.charge_per_hour);
    add_reserved(budgets, reservation, -parts[i]);
    excess -= parts[i];
  }
  return excess;
}

// Reduces reservations until the budget is not exceeded: first time to run, then what paused ones
// keep, last what was used and is not booked yet. What time costs nothing holds is for its
// creation, which ending it would not save.
void take_back(pqxx::work& tx, std::vector<Budget>& budgets, const Budget& tight, Time at) {
  Decimal excess = -tight.remaining();
  if (!(excess > Decimal())) return;
  const auto paused = held_for(tx, tight);
  std::set<std::string> sandboxes;
  for (const auto& [sandbox, is_paused] : paused) sandboxes.insert(sandbox);
  auto reservations = lock_reservations(tx, sandboxes);
  const auto first_paused =
      std::stable_partition(reservations.begin(), reservations.end(),
                            [&](const Reservation& one) { return !paused.at(one.sandbox); });
  excess = cut(budgets, {reservations.begin(), first_paused}, excess, at);
  excess = cut(budgets, {first_paused, reservations.end()}, excess, at);
  cut(budgets, reservations, excess, Time());
  if (!reservations.empty()) update_reservations(tx, reservations);
}

// Nothing that is booked without a budget is taken out of what was set aside before: a later budget
// would count it as spent and as reserved. What runs is set aside for anew then.
void forget_without_budgets(pqxx::work& tx, const std::string& tenant) {
  tx.exec_params(
      "DELETE FROM reservation WHERE tenant = $1"
      " AND NOT EXISTS (SELECT FROM budget WHERE tenant = $1)",
      tenant);
}

std::string array_of(const std::vector<int>& numbers) {
  std::string text = "{";
  for (const int number : numbers) text += (text.size() > 1 ? "," : "") + std::to_string(number);
  return text + "}";
}

Budget named(const std::vector<Budget>& budgets, const std::string& name) {
  for (const Budget& budget : budgets)
    if (budget.name == name) return budget;
  throw Error::not_found("budget", name);
}

// The settings without the counters.
Json settings_of(const Budget& budget) {
  Json json = to_json(budget);
  for (const char* counted :
       {"window_start", "window_end", "spent", "reserved", "remaining", "state", "credits"})
    json.erase(counted);
  return json;
}

Json stored_settings(pqxx::work& tx, const std::string& tenant, const std::string& name) {
  for (const Budget& budget : lock_budgets(tx, {tenant}, Time()))
    if (budget.name == name) return settings_of(budget);
  return nullptr;
}

Budget put_in(pqxx::work& tx, Budgets& enforced, const Budget& budget, Counted counted,
              const ChangeTrail& trail) {
  check_tenant(tx, TenantId{budget.tenant});
  lock_credits(tx, TenantId{budget.tenant});  // before what everybody waits for
  // Nothing is booked under this lock: the count and the bookings since then are complete.
  const Time now = lock_publishing(tx);
  plan_for_values(tx);
  counted = still_right(tx, budget, now, std::move(counted));
  const Json before = stored_settings(tx, budget.tenant, budget.name);
  // A create may have been under way when the last budget was removed.
  forget_without_budgets(tx, budget.tenant);
  tx.exec_params(kPut, budget.tenant, budget.name, budget.amount.to_string(), budget.currency,
                 std::string(to_string(budget.window)), budget.timezone,
                 std::string(to_string(budget.on_exceeded)), array_of(budget.alert_at),
                 to_rfc3339(now), to_json(budget.applies_to).dump(), counted.spent, counted.through,
                 events_until(budget.applies_to, counted.window_start));
  auto budgets = lock_budgets(tx, {budget.tenant}, now);
  take_back(tx, budgets, named(budgets, budget.name), enforced.time(now));
  emit_threshold_events(tx, budgets);
  update_budgets(tx, budgets);
  // Running sandboxes get their money before a new one can take it. Those that have to stop are not
  // stopped here: the enforcers that receive the notification find them again.
  enforced.renew_tenant(tx, budget.tenant);
  const Budget set = named(lock_budgets(tx, {budget.tenant}, now), budget.name);
  if (trail) trail(tx, before, settings_of(set));
  notify(tx, kBudgetsChannel, budget.tenant);
  return set;
}

}  // namespace

Task<Budget> BudgetStore::put(Budget budget, ChangeTrail trail) {
  // Counted before bookings are held off, because there may be years of usage.
  const int64_t through = co_await booking_watermark(database_);
  auto count = [budget, through](pqxx::work& tx) {
    check_tenant(tx, TenantId{budget.tenant});
    check_timezone(tx, budget.timezone);
    return count_spent(tx, budget, through);
  };
  const Counted counted = co_await database_.report(kBudgetTimeout, std::move(count));
  auto work = [this, budget, counted, trail](pqxx::work& tx) {
    return put_in(tx, budgets_, budget, counted, trail);
  };
  co_return co_await database_.run_within(kBudgetTimeout, std::move(work));
}

Task<std::vector<Budget>> BudgetStore::list(TenantId tenant) {
  auto work = [tenant](pqxx::work& tx) {
    check_tenant(tx, tenant);
    return read_budgets(tx, tenant.value, database_now(tx));
  };
  co_return co_await database_.run(std::move(work));
}

Task<void> BudgetStore::remove(TenantId tenant, std::string name, ChangeTrail trail) {
  auto work = [tenant, name, trail](pqxx::work& tx) {
    check_tenant(tx, tenant);
    const Json before = stored_settings(tx, tenant.value, name);
    if (before.is_null()) throw Error::not_found("budget", name);
    if (trail) trail(tx, before, nullptr);
    tx.exec_params("DELETE FROM budget WHERE tenant = $1 AND name = $2", tenant.value, name);
    forget_without_budgets(tx, tenant.value);
  };
  co_await database_.run(std::move(work));
}

Task<Money> BudgetStore::add_credits(TenantId tenant, Money money, std::string reason,
                                     ChangeTrail trail) {
  if (!(money.amount > Decimal())) throw Error::invalid("/amount", "must be more than zero");
  auto work = [tenant, money, reason, trail](pqxx::work& tx) {
    check_tenant(tx, tenant);
    lock_issuing(tx, tenant);
    post(tx, make_transfer(money, reason, tenant, std::string(kPrepaid), credits_of(tenant)));
    credit_budgets(tx, tenant, money);
    if (trail)
      trail(
          tx, nullptr,
          {{"amount", money.amount.to_string()}, {"currency", money.currency}, {"reason", reason}});
    return Money{pay_issued(tx, tenant, money.currency), money.currency};
  };
  co_return co_await database_.run(std::move(work));
}

}  // namespace sandgate
