// Budgets::extend: renews the reservations of running sandboxes and finds those to stop.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "billing/budgets/budget_shares.hpp"
#include "billing/budgets/budgets.hpp"
#include "billing/budgets/funds.hpp"
#include "billing/budgets/reservation_forecast.hpp"
#include "billing/prices/rate_schedule.hpp"
#include "billing/prices/rating.hpp"
#include "billing/usage/metered_rows.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::minutes kRenewBelow{5};
// One and a half flush intervals, so that usage not booked yet is still covered at the stop.
constexpr std::chrono::seconds kStopBelow{90};
// While it is covered for so long, one may wait for the money of others that stop.
constexpr std::chrono::seconds kWaitAbove{60};
// Between two rounds; what stops is charged for no longer.
constexpr std::chrono::seconds kRound{15};
// For sandboxes that began before their tenant had budgets, where their row tells no end.
constexpr std::chrono::hours kUnknownEnd{24 * 365};

// What was not renewed in time though this budget has money lacks that of a budget which only
// denies. What a paused one keeps is not given up for its price either while there is money.
constexpr const char* kDeadlines = R"sql(
SELECT tenant, sandbox, hard.name, (extract(epoch FROM covered_until) * 1000000)::bigint
FROM reservation r CROSS JOIN LATERAL (SELECT name FROM budget b
  WHERE b.tenant = r.tenant AND b.currency = r.currency AND b.on_exceeded = 'kill'
    AND r.subject @> b.applies_to
    AND (b.amount + b.credits <= b.spent + b.reserved OR r.covered_until >= $1::timestamptz
      AND NOT EXISTS (SELECT FROM metered_sandbox m
        WHERE m.sandbox = r.sandbox AND m.state IN ('paused_memory', 'paused_disk')))
  ORDER BY name LIMIT 1) hard
WHERE covered_until < ends_at ORDER BY covered_until LIMIT 100000)sql";

std::chrono::seconds whole_seconds_up(Time from, Time to) {
  return std::chrono::ceil<std::chrono::seconds>(std::max(to, from) - from);
}

// The action that a budget demands for a sandbox, and the budget's name.
struct Stop {
  OnExceeded on_exceeded;
  std::string budget;
};

// The strictest action for a sandbox without cover; empty when its exhausted budgets only deny.
// `foreign`: it is charged in another currency, which no budget can limit.
std::optional<Stop> stop_of(const std::vector<Budget>& budgets, const BudgetSubject& subject,
                            bool foreign) {
  const Budget* strictest = nullptr;
  for (const Budget& budget : budgets)
    if (budget.on_exceeded != OnExceeded::deny && (foreign || budget.remaining() <= Decimal()) &&
        budget.applies_to.holds_for(subject) &&
        (!strictest || budget.on_exceeded > strictest->on_exceeded))
      strictest = &budget;
  if (!strictest) return std::nullopt;
  return Stop{strictest->on_exceeded, strictest->name};
}

// An increase of what is set aside for a sandbox, to cover it up to `until`: an hour at most.
struct Renewal {
  Reservation* reservation;
  const Forecast* forecast;
  Time until;
  Decimal more;  // what is added to it
};

// What its time costs from where it is covered to, after what it lacks already.
Decimal wanted_until(const PriceSnapshot& prices, const Renewal& one, Time to) {
  const Forecast& forecast = *one.forecast;
  const Reservation& reservation = *one.reservation;
  const Time covered = reservation.covered_until;
  if (forecast.foreign) return Decimal();
  if (to >= covered) return forecast.lacking + forecast.charge(prices, reservation, {covered, to});
  const Decimal rest = estimate(reservation.charge_per_hour, covered - to);
  return forecast.lacking - std::min(forecast.lacking, rest);
}

// What it lacks is for time that has passed, as if it were not covered for so long.
Claim claim_of(const PriceSnapshot& prices, const Renewal& one) {
  const Reservation& reservation = *one.reservation;
  Time from = reservation.covered_until;
  if (!one.forecast->lacking.is_zero())
    from -= lasts(one.forecast->lacking, reservation.charge_per_hour);
  return {.reservation = &reservation, .from = from, .until = one.until, .cost = [&](Time to) {
            return wanted_until(prices, one, to);
          }};
}

void add_more(std::vector<Budget>& budgets, Renewal& one, const Decimal& more) {
  add_reserved(budgets, *one.reservation, more);
  one.reservation->held += more;
  one.more += more;
}

// Sets aside what is wanted, as far as the budgets have money. Paused sandboxes come first: what
// they keep costs less than running, and would be lost.
void share_out(std::vector<Budget>& budgets, std::vector<Renewal>& renewals,
               const PriceSnapshot& prices) {
  std::ranges::stable_partition(renewals,
                                [](const Renewal& one) { return one.forecast->is_paused(); });
  for (auto first = renewals.begin(); first != renewals.end();) {
    const auto last = std::find_if(first, renewals.end(), [&](const Renewal& one) {
      return one.forecast->is_paused() != first->forecast->is_paused();
    });
    std::vector<Claim> claims;
    for (const Renewal& one : std::span(first, last)) claims.push_back(claim_of(prices, one));
    const auto shares = fair_shares(budgets, claims);
    for (const Decimal& share : shares) add_more(budgets, *first++, share);
  }
  // The rest of a microsecond: a budget counts as used up when nothing is left.
  for (Renewal& one : renewals) {
    const Decimal rest = wanted_until(prices, one, one.until) - one.more;
    add_more(budgets, one, std::min(rest, available(budgets, *one.reservation).value_or(rest)));
  }
}

// Moves the end of the sandbox's cover. Returns what to do with it when that is too near.
std::optional<Stop> cover(const std::vector<Budget>& budgets, const Renewal& one, Time at,
                          const PriceSnapshot& prices) {
  const Forecast& forecast = *one.forecast;
  Reservation& reservation = *one.reservation;
  const Time covered = forecast.lasts(prices, reservation, reservation.covered_until,
                                      std::max(one.more - forecast.lacking, Decimal()));
  // Time is free, but other charges exceeded what was held.
  const bool overdrawn = reservation.charge_per_hour.is_zero() && reservation.covered_until <= at;
  const bool covers = covered >= std::min(at + kStopBelow, reservation.ends_at) && !overdrawn;
  auto stop = covers ? std::nullopt : stop_of(budgets, reservation.subject, forecast.foreign);
  // At a rate of zero any amount would last: the old time makes an overdrawn sandbox come again.
  if (!stop || !overdrawn) reservation.covered_until = covered;
  // One that is paused already is charged on for what it keeps.
  if (stop && forecast.is_paused() && !reservation.charge_per_hour.is_zero())
    stop->on_exceeded = OnExceeded::kill;
  return stop;
}

std::vector<Renewal> due_for_renewal(std::vector<Reservation>& reservations, Forecasts& forecasts,
                                     Time at) {
  std::vector<Renewal> renewals;
  for (Reservation& reservation : reservations) {
    const Time due = std::min(at + kRenewBelow, reservation.ends_at);
    const Forecast& forecast = forecasts[reservation.sandbox];
    if (reservation.covered_until >= due || forecast.ended) continue;
    const Time from = std::max(reservation.covered_until, at);
    const auto time = std::min<std::chrono::seconds>(whole_seconds_up(from, reservation.ends_at),
                                                     kReservationHorizon);
    renewals.push_back({&reservation, &forecast, from + time});
  }
  return renewals;
}

// A sandbox whose cover ends too soon.
struct Uncovered {
  const Renewal* renewal;
  Stop stop;
};

// Takes what the sandbox needs until the next round but one from the budgets, if they have it.
bool can_wait(std::vector<Budget>& budgets, const Renewal& one, const PriceSnapshot& prices,
              Time at) {
  const Reservation& reservation = *one.reservation;
  const Time covered = reservation.covered_until;
  if (one.forecast->foreign || covered < at + kWaitAbove) return false;
  const Time enough = std::min(at + kStopBelow + kRound, reservation.ends_at);
  const Decimal needed = one.forecast->charge(prices, reservation, {covered, enough});
  if (needed > available(budgets, reservation).value_or(needed)) return false;
  add_reserved(budgets, reservation, needed);
  return true;
}

// Which of the uncovered sandboxes to stop now: as few as are needed for the money held for them to
// cover the others. The order stays the same until they have stopped; paused ones are last, since
// they cost least.
std::vector<Uncovered> to_stop(std::vector<Budget> budgets, std::vector<Uncovered> uncovered,
                               const PriceSnapshot& prices, Time at) {
  std::ranges::sort(uncovered, {}, [](const Uncovered& one) {
    return std::pair(one.renewal->forecast->is_paused(), one.renewal->reservation->sandbox);
  });
  std::vector<Uncovered> stops;
  for (Uncovered& one : uncovered) {
    if (can_wait(budgets, *one.renewal, prices, at)) continue;
    const Reservation& reservation = *one.renewal->reservation;
    const Interval freed{at + kRound, std::max(reservation.covered_until, at + kRound)};
    const Decimal back = one.renewal->forecast->charge(prices, reservation, freed);
    add_reserved(budgets, reservation, -std::min(back, reservation.held));
    stops.push_back(std::move(one));
  }
  return stops;
}

// Gives back what is held for ended sandboxes, except for usage of theirs that is not booked yet.
// Normally their end does so, but not one that was under way when the tenant's first budget was
// set: it saw no budget to settle.
void release_ended(pqxx::work& tx, std::vector<Budget>& budgets, const std::string& tenant,
                   const PriceSnapshot& prices) {
  const auto ended = reserved_until_booked(tx, tenant);
  if (ended.empty()) return;
  std::map<std::string, MeteredRow> rows;
  for (MeteredRow& row : read_metered(tx, ended)) rows.emplace(row.life.id.value, std::move(row));
  auto reservations = lock_reservations(tx, ended);
  for (Reservation& reservation : reservations) {
    const MeteredRow& row = rows.at(reservation.sandbox);
    if (!row.life.unbooked_end) continue;  // booked meanwhile
    const RunCharge rest = estimate_remaining_run(prices, row, {.until = *row.life.unbooked_end},
                                                  reservation.currency);
    const Decimal back = reservation.held - std::min(reservation.held, rest.charge);
    reservation.held -= back;
    add_reserved(budgets, reservation, -back);
  }
  if (!reservations.empty()) update_reservations(tx, reservations);
}

}  // namespace

Task<std::vector<Halt>> Budgets::renew(Database& database) {
  auto find = [this](pqxx::work& tx) {
    const std::string at = to_rfc3339(books_.lock(tx, clock_).now + kRenewBelow);
    std::vector<std::string> tenants;
    for (const auto& row :
         tx.exec_params("SELECT tenant FROM reservation WHERE covered_until < $1::timestamptz"
                        " AND covered_until < ends_at UNION"
                        " SELECT tenant FROM reservation WHERE reprice UNION"
                        " SELECT r.tenant FROM reservation r JOIN metered_sandbox m USING (sandbox)"
                        "   WHERE m.state = 'closed' AND m.unbooked_end IS NULL UNION"
                        " SELECT tenant FROM budget b WHERE EXISTS (SELECT FROM metered_sandbox m"
                        "   LEFT JOIN reservation r USING (sandbox) WHERE m.tenant = b.tenant"
                        "   AND m.state <> 'closed' AND r.sandbox IS NULL)",
                        at))
      tenants.push_back(row[0].as<std::string>());
    return tenants;
  };
  const auto tenants = co_await database.run(find);
  std::vector<Halt> halts;
  for (const std::string& tenant : tenants) {
    auto renewing = renew_all(database, tenant);
    auto more = co_await std::move(renewing);
    std::ranges::move(more, std::back_inserter(halts));
  }
  co_return halts;
}

Task<std::vector<Halt>> Budgets::renew_all(Database& database, std::string tenant) {
  std::vector<Halt> halts;
  for (std::optional<ExpiryCursor> after = ExpiryCursor{}; after;) {
    auto work = [this, tenant, after = *after](pqxx::work& tx) {
      // A first budget may be set while an end is under way that sees no budget: what was set aside
      // for it then was not settled.
      settle_ended(tx, tenant);
      return renew_page(tx, tenant, after);
    };
    auto renewing = database.run(std::move(work));
    auto outcome = co_await attempt(std::move(renewing));
    auto* page = std::get_if<Page>(&outcome);
    if (!page) {
      log::warn("a tenant's budgets were not looked after",
                {{"tenant", tenant}, {"reason", std::get<Error>(outcome).what()}});
      break;
    }
    std::ranges::move(page->halts, std::back_inserter(halts));
    after = page->last;
  }
  co_return halts;
}

void Budgets::settle_ended(pqxx::work& tx, const std::string& tenant) {
  release_reservations(tx, reserved_though_ended(tx, tenant, /*stopping=*/false), clock_);
  const auto stopping = reserved_though_ended(tx, tenant, /*stopping=*/true);
  if (stopping.empty()) return;
  const auto prices = books_.lock(tx, clock_).prices;
  for (const MeteredRow& row : read_metered(tx, stopping))
    settle(tx, row.life.id, last_reading_charge(*prices, row));
}

Task<std::vector<BudgetDeadline>> Budgets::deadlines(Database& database) {
  auto work = [this](pqxx::work& tx) {
    std::vector<BudgetDeadline> deadlines;
    for (const auto& row :
         run_prepared(tx, kDeadlines, to_rfc3339(books_.lock(tx, clock_).now + kRenewBelow)))
      deadlines.push_back({TenantId{row[0].as<std::string>()}, SandboxId{row[1].as<std::string>()},
                           row[2].as<std::string>(), from_micros(row[3].as<int64_t>())});
    return deadlines;
  };
  auto reading = database.run(std::move(work));
  co_return co_await std::move(reading);
}

std::vector<Halt> Budgets::renew_tenant(pqxx::work& tx, const std::string& tenant) {
  return renew_page(tx, tenant, {}).halts;
}

Budgets::Page Budgets::renew_page(pqxx::work& tx, const std::string& tenant,
                                  const ExpiryCursor& after) {
  const auto rating = books_.lock(tx, clock_);
  const Time at = rating.now;
  auto budgets = lock_budgets(tx, {tenant}, at);
  // The budgets' lock keeps two from adopting the same sandbox.
  if (!budgets.empty()) open_missing_reservations(tx, tenant, *rating.prices, at);
  if (!budgets.empty()) release_ended(tx, budgets, tenant, *rating.prices);
  auto expiring = lock_expiring(tx, tenant, at + kRenewBelow, after);
  Page page;
  if (expiring.size() == kMaxExpiring)
    page.last = {expiring.back().covered_until, expiring.back().sandbox};
  auto forecasts = make_forecasts(tx, expiring, *rating.prices, at);
  auto renewals = due_for_renewal(expiring, forecasts, at);
  share_out(budgets, renewals, *rating.prices);
  std::vector<Uncovered> uncovered;
  for (const Renewal& one : renewals)
    if (auto stop = cover(budgets, one, at, *rating.prices))
      uncovered.push_back({&one, std::move(*stop)});
  for (const auto& [one, stop] : to_stop(budgets, std::move(uncovered), *rating.prices, at))
    page.halts.push_back({TenantId{tenant}, SandboxId{one->reservation->sandbox}, stop.on_exceeded,
                          stop.budget, one->reservation->covered_until});
  for (Budget& budget : budgets)
    if (!page.halts.empty() && budget.remaining() <= Decimal()) emit_exceeded_event(tx, budget);
  if (!expiring.empty()) update_reservations(tx, expiring);
  if (!budgets.empty()) update_budgets(tx, budgets);
  return page;
}

void Budgets::open_missing_reservations(pqxx::work& tx, const std::string& tenant,
                                        const PriceSnapshot& prices, Time at) {
  std::map<std::string, BudgetSubject> subjects;
  std::set<std::string> sandboxes;
  for (const auto& row : run_prepared(
           tx,
           "SELECT m.sandbox, budget_subject(m.profile, m.key, m.metadata) FROM metered_sandbox m"
           " LEFT JOIN reservation r USING (sandbox)"
           " WHERE m.tenant = $1 AND m.state <> 'closed' AND r.sandbox IS NULL",
           tenant)) {
    sandboxes.insert(row[0].as<std::string>());
    subjects[row[0].as<std::string>()] = budget_subject_from(Json::parse(row[1].c_str()));
  }
  if (sandboxes.empty()) return;
  for (const auto& [life, counters, last, has_budgets] : read_metered(tx, sandboxes)) {
    const auto rate = charge_per_hour(prices, life.scope(), life.charged(), at);
    if (!rate || life.closed || life.unbooked_end) continue;
    // From where it is booked to: that time will be charged as well.
    const RateSchedule schedule(prices, life, rate->currency, rate->amount);
    insert_reservation(tx, {.sandbox = life.id.value,
                            .tenant = tenant,
                            .currency = rate->currency,
                            .charge_per_hour = rate->amount,
                            .covered_until = schedule.lasts(life.boundary, Decimal()),
                            .ends_at = life.ends_at.value_or(at + kUnknownEnd),
                            .subject = subjects.at(life.id.value)});
  }
}

}  // namespace sandgate
