#include "billing/budgets.hpp"

#include <algorithm>
#include <map>

#include "billing/metered_rows.hpp"
#include "billing/rating.hpp"
#include "billing/sql_array.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/statement.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::minutes kExtendBelow{5};
// A flush interval and a half: usage not booked yet is still paid when it stops.
constexpr std::chrono::seconds kStopBelow{90};
// The end of a sandbox that began before its tenant had budgets is not known here.
constexpr std::chrono::hours kUnknownEnd{24 * 365};

Error exceeded(const Budget& budget, const Money& needed) {
  const Decimal remaining = std::max(budget.remaining(), Decimal());
  const bool other = needed.currency != budget.currency;
  Error error(ErrorCode::budget_exceeded,
              other ? "budget '" + budget.name + "' is in " + budget.currency +
                          " and could not limit what is charged in " + needed.currency
                    : "budget '" + budget.name + "' has " + remaining.to_string() + " " +
                          budget.currency + " left and this needs " + needed.amount.to_string() +
                          " " + needed.currency);
  error.details = {{"budget", budget.name},
                   {"amount", budget.amount.to_string()},
                   {"currency", budget.currency},
                   {"spent", budget.spent.to_string()},
                   {"reserved", budget.reserved.to_string()},
                   {"remaining", remaining.to_string()},
                   {"needed", needed.amount.to_string()}};
  return error;
}

// Leaves those that hold for a sandbox.
void keep_those_for(std::vector<Budget>& budgets, const BudgetSubject& subject) {
  std::erase_if(budgets,
                [&](const Budget& budget) { return !budget.applies_to.holds_for(subject); });
}

bool pays_for(const Budget& budget, const Reservation& reservation) {
  return budget.currency == reservation.currency &&
         budget.applies_to.holds_for(reservation.subject);
}

// The least that any of its budgets has left, never negative; empty without one.
std::optional<Decimal> available(const std::vector<Budget>& budgets,
                                 const Reservation& reservation) {
  std::optional<Decimal> least;
  for (const Budget& budget : budgets)
    if (pays_for(budget, reservation))
      least = std::min(least.value_or(budget.remaining()), budget.remaining());
  return least ? std::optional(std::max(*least, Decimal())) : least;
}

void set_aside(std::vector<Budget>& budgets, const Reservation& reservation,
               const Decimal& amount) {
  for (Budget& budget : budgets)
    if (pays_for(budget, reservation)) budget.reserved += amount;
}

SetAside aside_of(const std::vector<Budget>& budgets, const Reservation& reservation,
                  const Decimal& amount) {
  SetAside aside{.amount = amount};
  for (const Budget& budget : budgets)
    if (pays_for(budget, reservation)) aside.budgets.push_back(budget.id);
  return aside;
}

// For the first hour at most; from when on is not said yet.
Reservation reservation_of(const PlannedSpending& planned) {
  const Money rate = planned.charge_per_hour.value_or(Money());
  const auto duration = std::min<std::chrono::seconds>(planned.ttl, kSetAside);
  const Decimal time = estimate(rate.amount, duration);
  const RunCharge most = planned.most.value_or(RunCharge{time, time});
  return {.sandbox = planned.sandbox.value,
          .tenant = planned.tenant.value,
          .currency = rate.currency,
          .charge_per_hour = rate.amount,
          .held = most.charge,
          .ahead = most.by_time - most.charge,
          .subject = planned.subject};
}

// What is set aside at first is for so long; where time costs nothing, for ever.
std::chrono::microseconds time_of(const PlannedSpending& planned, const Decimal& charge_per_hour) {
  const auto duration = std::min<std::chrono::seconds>(planned.ttl, kSetAside);
  return lasts(estimate(charge_per_hour, duration), charge_per_hour);
}

std::chrono::seconds whole_seconds_up(Time from, Time to) {
  return std::chrono::ceil<std::chrono::seconds>(std::max(to, from) - from);
}

// What is held stays in the currency it was set aside in; another one is no money here, but nothing
// is nothing in each. Whether it is that currency.
bool take_rate(Reservation& reservation, const std::optional<Money>& charge) {
  if (!charge || (charge->currency != reservation.currency && !charge->amount.is_zero()))
    return false;
  reservation.charge_per_hour = charge->amount;
  return true;
}

// For the first hour at most.
RunCharge by_rate(const Reservation& reservation, const PlannedSpending& planned) {
  const auto duration = std::min<std::chrono::seconds>(planned.ttl, kSetAside);
  const Decimal time = estimate(reservation.charge_per_hour, duration);
  return {.charge = time, .by_time = time};
}

// What is to be held for a sandbox from now on: `most`, which pays for its time since `from`.
struct Change {
  const PlannedSpending& planned;
  RunCharge most;
  Time at, from;
};

// Or as much of it as there is.
void set_held(pqxx::work& tx, const std::vector<Budget>& budgets, std::vector<Reservation>& one,
              const Change& change) {
  Reservation& reservation = one[0];
  Decimal more = change.most.charge - reservation.held;
  if (!more.is_negative()) more = std::min(more, available(budgets, reservation).value_or(more));
  reservation.held += more;
  reservation.ahead = change.most.by_time - change.most.charge;
  const auto whole = time_of(change.planned, reservation.charge_per_hour);
  reservation.covered_until = std::min(change.from + reservation.lasts(), change.at + whole);
  reservation.ends_at = change.at + change.planned.ttl;
  update_reservations(tx, one, aside_of(budgets, reservation, more));
}

// What has to happen to a sandbox, and the name of the budget that says so.
struct Stop {
  OnExceeded on_exceeded;
  std::string budget;
};

// Of one without cover; empty: nothing, its budgets only deny. `foreign`: it is charged in another
// currency, which none of them can limit.
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

// Sets aside for the time to come what the budgets have; says what has to happen where that does
// not last.
std::optional<Stop> extend_cover(std::vector<Budget>& budgets, Reservation& reservation, Time at,
                                 bool foreign) {
  const auto needed = std::min<std::chrono::seconds>(
      whole_seconds_up(std::max(reservation.covered_until, at), reservation.ends_at), kSetAside);
  const Decimal wanted = foreign ? Decimal() : estimate(reservation.charge_per_hour, needed);
  const Decimal more = std::min(wanted, available(budgets, reservation).value_or(wanted));
  set_aside(budgets, reservation, more);
  reservation.held += more;
  const Time covered = reservation.covered_until + lasts(more, reservation.charge_per_hour);
  // Free by the hour, but something else of it was charged beyond what was held.
  const bool overdrawn = reservation.charge_per_hour.is_zero() && reservation.covered_until <= at;
  const bool covers = covered >= std::min(at + kStopBelow, reservation.ends_at) && !overdrawn;
  const auto stop = covers ? std::nullopt : stop_of(budgets, reservation.subject, foreign);
  // Where nothing is charged any money lasts: left as it is, it comes again until it has stopped.
  if (!stop || !overdrawn) reservation.covered_until = covered;
  return stop;
}

constexpr const char* kMeteredColumns =
    "m.sandbox, m.tenant, m.deployment, m.provider, m.region, m.state, m.milli_vcpu, m.memory_mib,"
    " m.disk_gib, m.own, (extract(epoch FROM m.boundary) * 1000000)::bigint AS boundary_micros";

// What a metered sandbox is charged as it is now: a paused one for what it keeps.
std::optional<Money> rate_now(const pqxx::row& row, const PriceSnapshot& prices, Time at) {
  const auto text = [&](const char* name) { return row[name].as<std::string>(); };
  const std::string tenant = text("tenant"), deployment = text("deployment"),
                    provider = text("provider"), region = text("region"), state = text("state");
  Resources size{.milli_vcpu = row["milli_vcpu"].as<int64_t>(),
                 .memory_mib = row["memory_mib"].as<int64_t>(),
                 .disk_gib = row["disk_gib"].as<int64_t>()};
  if (state != "running") size.milli_vcpu = 0;
  if (state == "paused_disk") size.memory_mib = 0;
  const PriceScope scope{tenant, provider, deployment, region, row["own"].as<bool>()};
  return charge_per_hour(prices, scope, size, at);
}

// What is set aside from here on, and how long that lasts which is, follows the prices of now.
// Returns those that are charged in another currency than what was set aside for them.
std::set<std::string> reprice(pqxx::work& tx, std::vector<Reservation>& reservations,
                              const PriceSnapshot& prices, Time at) {
  std::map<std::string, Reservation*> known;
  std::set<std::string> foreign;
  SqlArray sandboxes;
  for (Reservation& reservation : reservations) {
    known[reservation.sandbox] = &reservation;
    sandboxes.add(reservation.sandbox);
  }
  static const std::string kSql = "SELECT " + std::string(kMeteredColumns) +
                                  " FROM metered_sandbox m WHERE m.sandbox = ANY ($1::text[])"
                                  " AND m.state <> 'closed'";
  for (const auto& row : run_prepared(tx, kSql, sandboxes.str())) {
    Reservation& reservation = *known.at(row["sandbox"].as<std::string>());
    const auto rate = rate_now(row, prices, at);
    if (!rate) continue;
    if (rate->currency != reservation.currency) {
      if (!rate->amount.is_zero()) foreign.insert(reservation.sandbox);
      continue;
    }
    if (rate->amount == reservation.charge_per_hour) continue;
    reservation.charge_per_hour = rate->amount;
    reservation.covered_until =
        from_micros(row["boundary_micros"].as<int64_t>()) + reservation.lasts();
  }
  return foreign;
}

}  // namespace

PriceBooks::Held Budgets::hold(pqxx::work& tx) {
  auto held = books_.hold(tx);
  if (clock_) held.now = clock_->now();
  return held;
}

bool Budgets::reserve(pqxx::work& tx, const PlannedSpending& planned) {
  Reservation reservation = reservation_of(planned);
  const auto covers = time_of(planned, reservation.charge_per_hour);
  if (planned.charge_per_hour && planned.other_currencies.empty()) {
    const auto done = reserve_at_once(tx, reservation, covers, planned.ttl, clock_);
    if (!done || *done) return done.has_value();
  }
  auto [at, budgets] = hold_budgets(tx, planned.tenant.value, clock_);
  keep_those_for(budgets, planned.subject);
  if (budgets.empty()) return false;
  // Nothing is nothing in each currency.
  const bool is_free = reservation.held.is_zero() && reservation.charge_per_hour.is_zero();
  if (is_free || !planned.charge_per_hour) reservation.currency = budgets[0].currency;
  for (const Budget& budget : budgets) {
    for (const std::string& other : planned.other_currencies)
      if (other != budget.currency) throw exceeded(budget, {Decimal(), other});
    const bool can_limit = is_free || budget.currency == reservation.currency;
    if (!can_limit || budget.remaining() < reservation.held || budget.remaining() <= Decimal())
      throw exceeded(budget, {reservation.held, reservation.currency});
  }
  reservation.covered_until = at + covers;
  reservation.ends_at = at + planned.ttl;
  insert_reservation(tx, reservation, aside_of(budgets, reservation, reservation.held));
  return true;
}

void Budgets::adjust(pqxx::work& tx, const PlannedSpending& planned) {
  const auto [at, budgets] = hold_budgets(tx, planned.tenant.value, clock_);
  if (budgets.empty()) return;
  auto found = lock_reservations(tx, {planned.sandbox.value});
  if (found.empty()) return;
  const bool same = take_rate(found[0], planned.charge_per_hour);
  const RunCharge most = same && planned.most ? *planned.most : by_rate(found[0], planned);
  set_held(tx, budgets, found, {planned, most, at, at});
}

void Budgets::lengthen(pqxx::work& tx, const PlannedSpending& planned) {
  const auto [at, budgets] = hold_budgets(tx, planned.tenant.value, clock_);
  if (budgets.empty()) return;
  const auto prices = hold(tx).prices;
  // One that began before its tenant had budgets is held to them from here on.
  adopt_uncovered(tx, planned.tenant.value, *prices, at);
  auto found = lock_reservations(tx, {planned.sandbox.value});
  if (found.empty()) return;
  take_rate(found[0], planned.charge_per_hour);
  Change change{planned, by_rate(found[0], planned), at, at};
  if (const auto row = read_metered(tx, planned.sandbox)) {
    const Time until = at + std::min<std::chrono::seconds>(planned.ttl, kSetAside);
    const bool may_run_on = planned.ttl > kSetAside;
    change.most = rest_to_set_aside(*prices, *row, until, may_run_on, found[0].currency);
    change.from = row->life.boundary;
  }
  const Decimal more = change.most.charge - found[0].held;
  for (const Budget& budget : budgets)
    if (pays_for(budget, found[0]) && more > std::max(budget.remaining(), Decimal()))
      throw exceeded(budget, {more, found[0].currency});
  set_held(tx, budgets, found, change);
}

void Budgets::settle(pqxx::work& tx, const SandboxId& id) {
  const auto rows = run_prepared(tx, "SELECT tenant FROM reservation WHERE sandbox = $1", id.value);
  if (rows.empty()) return;
  const auto budgets = hold_budgets(tx, rows[0][0].as<std::string>(), clock_).budgets;
  const auto found = lock_reservations(tx, {id.value});
  if (found.empty()) return;
  delete_reservation(tx, id.value, aside_of(budgets, found[0], -found[0].held));
}

Task<std::vector<Halt>> Budgets::extend(Database& database) {
  auto find = [this](pqxx::work& tx) {
    const std::string at = to_rfc3339(hold(tx).now + kExtendBelow);
    std::vector<std::string> tenants;
    for (const auto& row :
         tx.exec_params("SELECT tenant FROM reservation WHERE covered_until < $1::timestamptz"
                        " AND covered_until < ends_at UNION"
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
    auto work = [this, tenant](pqxx::work& tx) { return extend_tenant(tx, tenant); };
    auto extending = database.run(std::move(work));
    const auto outcome = co_await attempt(std::move(extending));
    if (const auto* more = std::get_if<std::vector<Halt>>(&outcome))
      halts.insert(halts.end(), more->begin(), more->end());
    else
      log::warn("a tenant's budgets were not looked after",
                {{"tenant", tenant}, {"reason", std::get<Error>(outcome).what()}});
  }
  co_return halts;
}

std::vector<Halt> Budgets::extend_tenant(pqxx::work& tx, const std::string& tenant) {
  const auto held = hold(tx);
  const Time at = held.now;
  auto budgets = lock_budgets(tx, {tenant}, at);
  adopt_uncovered(tx, tenant, *held.prices, at);
  auto running_out = lock_running_out(tx, tenant, at + kExtendBelow);
  const auto foreign = reprice(tx, running_out, *held.prices, at);
  std::vector<Halt> halts;
  for (Reservation& reservation : running_out) {
    const bool other = foreign.contains(reservation.sandbox);
    if (const auto stop = extend_cover(budgets, reservation, at, other))
      halts.push_back({TenantId{tenant}, SandboxId{reservation.sandbox}, stop->on_exceeded,
                       stop->budget, reservation.covered_until});
  }
  for (Budget& budget : budgets)
    if (!halts.empty() && budget.remaining() <= Decimal()) tell_exceeded(tx, budget);
  if (!running_out.empty()) update_reservations(tx, running_out);
  if (!budgets.empty()) update_budgets(tx, budgets);
  return halts;
}

void Budgets::adopt_uncovered(pqxx::work& tx, const std::string& tenant,
                              const PriceSnapshot& prices, Time at) {
  const auto rows =
      tx.exec_params("SELECT " + std::string(kMeteredColumns) +
                         ", budget_subject(m.profile, m.key, m.metadata) AS subject"
                         " FROM metered_sandbox m LEFT JOIN reservation r USING (sandbox)"
                         " WHERE m.tenant = $1 AND m.state <> 'closed' AND r.sandbox IS NULL",
                     tenant);
  for (const auto& row : rows) {
    const auto rate = rate_now(row, prices, at);
    if (!rate) continue;
    insert_reservation(tx, {.sandbox = row["sandbox"].as<std::string>(),
                            .tenant = tenant,
                            .currency = rate->currency,
                            .charge_per_hour = rate->amount,
                            .covered_until = at + lasts(Decimal(), rate->amount),
                            .ends_at = at + kUnknownEnd,
                            .subject = budget_subject_from(Json::parse(row["subject"].c_str()))});
  }
}

}  // namespace sandgate
