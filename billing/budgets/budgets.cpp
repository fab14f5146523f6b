#include "billing/budgets/budgets.hpp"

#include <algorithm>

#include "billing/budgets/funds.hpp"
#include "billing/prices/rate_schedule.hpp"
#include "billing/prices/rating.hpp"
#include "billing/usage/metered_rows.hpp"

namespace sandgate {
namespace {

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

// Removes the budgets that do not apply to the sandbox.
void keep_those_for(std::vector<Budget>& budgets, const BudgetSubject& subject) {
  std::erase_if(budgets,
                [&](const Budget& budget) { return !budget.applies_to.holds_for(subject); });
}

// The charge for the sandbox's time at the rate, for one hour at most.
Decimal first_hour(const PlannedSpending& planned, const Decimal& charge_per_hour) {
  return estimate(charge_per_hour,
                  std::min<std::chrono::seconds>(planned.ttl, kReservationHorizon));
}

// The times are not set yet.
Reservation reservation_of(const PlannedSpending& planned) {
  const Money rate = planned.charge_per_hour.value_or(Money());
  const Decimal time = first_hour(planned, rate.amount);
  const RunCharge max = planned.max_charge.value_or(RunCharge{time, time});
  return {.sandbox = planned.sandbox.value,
          .tenant = planned.tenant.value,
          .currency = rate.currency,
          .charge_per_hour = rate.amount,
          .held = max.charge,
          .ahead = max.by_time - max.charge,
          .subject = planned.subject};
}

// How long the money for the first hour lasts; the maximum of lasts() when time is free.
std::chrono::microseconds covered_time(const PlannedSpending& planned,
                                       const Decimal& charge_per_hour) {
  return lasts(first_hour(planned, charge_per_hour), charge_per_hour);
}

// Takes over a new rate and returns true, unless it is in another currency than the money held. A
// rate of zero fits every currency.
bool take_rate(Reservation& reservation, const std::optional<Money>& charge) {
  if (!charge || (charge->currency != reservation.currency && !charge->amount.is_zero()))
    return false;
  reservation.charge_per_hour = charge->amount;
  return true;
}

// What a reservation is to become: `target`, which pays for the sandbox's time from `from` on.
struct Change {
  const PlannedSpending& planned;
  RunCharge target;
  Time at, from;
  Decimal uncounted;  // the part of it that pays for processor time before `from`
  std::shared_ptr<const PriceSnapshot> prices;  // null: by the reservation's rate alone
  MeteredLife life;

  Time lasts(const Reservation& reservation) const {
    const Decimal paid = reservation.paid(uncounted);
    if (!prices) return from + sandgate::lasts(paid, reservation.charge_per_hour);
    return RateSchedule(*prices, life, reservation.currency, reservation.charge_per_hour)
        .lasts(from, paid);
  }
};

Change by_rate(const Reservation& reservation, const PlannedSpending& planned, Time at) {
  const Decimal time = first_hour(planned, reservation.charge_per_hour);
  return {.planned = planned, .target = {time, time}, .at = at, .from = at};
}

// What the planned time of a metered sandbox will be charged beyond what is booked.
RunCharge rest_of(const MeteredRow& row, const PriceSnapshot& prices,
                  const PlannedSpending& planned, Time at, const std::string& currency,
                  std::optional<Time> resumes_at = {}) {
  const RemainingRun rest{
      .until = at + std::min<std::chrono::seconds>(planned.ttl, kReservationHorizon),
      .may_run_on = planned.ttl > kReservationHorizon,
      .resumes_at = resumes_at};
  return estimate_remaining_run(prices, row, rest, currency);
}

// As by_rate(), but counts what is booked if the sandbox is metered.
Change by_meter(pqxx::work& tx, std::shared_ptr<const PriceSnapshot> prices,
                const Reservation& reservation, const PlannedSpending& planned, Time at) {
  Change change = by_rate(reservation, planned, at);
  const auto row = read_metered(tx, planned.sandbox);
  if (!row) return change;
  change.target = rest_of(*row, *prices, planned, at, reservation.currency);
  change.from = row->life.boundary;
  const Money uncounted = uncounted_time(*prices, *row);
  if (uncounted.currency == reservation.currency) change.uncounted = uncounted.amount;
  change.prices = std::move(prices);
  change.life = row->life;
  return change;
}

// Sets the reservation to the target, or to as much of it as the budgets have left.
void set_held(pqxx::work& tx, const std::vector<Budget>& budgets, std::vector<Reservation>& one,
              const Change& change) {
  Reservation& reservation = one[0];
  Decimal more = change.target.charge - reservation.held;
  if (!more.is_negative()) more = std::min(more, available(budgets, reservation).value_or(more));
  reservation.held += more;
  reservation.ahead = change.target.by_time - change.target.charge;
  const auto whole = covered_time(change.planned, reservation.charge_per_hour);
  reservation.covered_until = std::min(change.lasts(reservation), change.at + whole);
  reservation.ends_at = change.at + change.planned.ttl;
  update_reservations(tx, one, delta_of(budgets, reservation, more));
}

// Throws unless each of the budgets, which apply, can pay for the reservation. One that needs no
// currency gets the budgets'.
void check_funds(const std::vector<Budget>& budgets, const PlannedSpending& planned,
                 Reservation& reservation) {
  // Zero is the same in every currency.
  const bool is_free = reservation.held.is_zero() && reservation.charge_per_hour.is_zero();
  const bool may_cost = !is_free || !planned.other_currencies.empty();  // its bytes, for example
  if (is_free || !planned.charge_per_hour) reservation.currency = budgets[0].currency;
  for (const Budget& budget : budgets) {
    for (const std::string& other : planned.other_currencies)
      if (other != budget.currency) throw exceeded(budget, {Decimal(), other});
    const bool can_limit = is_free || budget.currency == reservation.currency;
    const bool has_room = budget.remaining() >= reservation.held && budget.remaining() > Decimal();
    if (!can_limit || (may_cost && !has_room))
      throw exceeded(budget, {reservation.held, reservation.currency});
  }
}

}  // namespace

void Budgets::check_committed(pqxx::work& tx, const PlannedSpending& planned) const {
  const auto at = clock_ ? std::optional(clock_->now()) : std::nullopt;
  auto budgets = read_budgets(tx, planned.tenant.value, at);
  keep_those_for(budgets, planned.subject);
  Reservation reservation = reservation_of(planned);
  if (!budgets.empty()) check_funds(budgets, planned, reservation);
}

void Budgets::check_generation(pqxx::work& tx, const PlannedSpending& planned,
                               int64_t generation) const {
  if (planned.generation.value_or(generation) == generation) return;
  books_.lock(tx, clock_);
  throw OutOfDate();
}

bool Budgets::reserve(pqxx::work& tx, const PlannedSpending& planned) {
  if (planned.is_crowded) check_committed(tx, planned);
  if (planned.charge_per_hour && planned.other_currencies.empty()) {
    const Reservation reservation = reservation_of(planned);
    const auto covers = covered_time(planned, reservation.charge_per_hour);
    const auto [done, generation] = try_fast_reserve(tx, reservation, covers, planned.ttl, clock_);
    if (done.value_or(false)) check_generation(tx, planned, generation);
    if (!done || *done) return done.has_value();
  }
  // What runs comes first, where money was freed or added that it will need.
  renew_tenant(tx, planned.tenant.value);
  check_generation(tx, planned, books_.snapshot()->generation());
  return reserve_from_budgets(tx, planned);
}

void Budgets::resume(pqxx::work& tx, PlannedSpending planned) {
  // In this order: a metered sandbox without a reservation would be given one.
  renew_tenant(tx, planned.tenant.value);
  settle(tx, planned.sandbox);
  if (planned.charge_per_hour) {
    const auto rating = books_.lock(tx, clock_);
    const auto row = read_metered(tx, planned.sandbox);
    if (row)
      planned.max_charge = rest_of(*row, *rating.prices, planned, rating.now,
                                   planned.charge_per_hour->currency, /*resumes_at=*/rating.now);
    // As for a create: a run that costs nothing has no currency of its own.
    if (row && planned.charge_per_hour->amount.is_zero() && planned.max_charge->charge.is_zero())
      planned.other_currencies =
          other_currencies(*rating.prices, row->life.scope(), rating.now, "");
  }
  reserve_from_budgets(tx, planned);
}

bool Budgets::reserve_from_budgets(pqxx::work& tx, const PlannedSpending& planned) {
  Reservation reservation = reservation_of(planned);
  const auto covers = covered_time(planned, reservation.charge_per_hour);
  auto [at, budgets] = lock_tenant_budgets(tx, planned.tenant.value, clock_);
  keep_those_for(budgets, planned.subject);
  if (budgets.empty()) return false;
  check_funds(budgets, planned, reservation);
  reservation.covered_until = at + covers;
  reservation.ends_at = at + planned.ttl;
  insert_reservation(tx, reservation, delta_of(budgets, reservation, reservation.held));
  return true;
}

void Budgets::adjust(pqxx::work& tx, const PlannedSpending& planned) {
  if (planned.charge_per_hour && planned.max_charge) {
    const Reservation same = reservation_of(planned);
    const auto whole = covered_time(planned, same.charge_per_hour);
    const auto covers = std::min(lasts(same.paid(), same.charge_per_hour), whole);
    if (try_fast_adjust(tx, same, covers, planned.ttl, clock_)) return;
  }
  const auto [at, budgets] = lock_tenant_budgets(tx, planned.tenant.value, clock_);
  if (budgets.empty()) return;
  auto found = lock_reservations(tx, {planned.sandbox.value});
  if (found.empty()) return;
  const bool fits = take_rate(found[0], planned.charge_per_hour);
  // A rate of zero fits every currency, but what is left of the run is known in the rate's own
  // only.
  const bool has_rest = fits && planned.charge_per_hour->currency == found[0].currency;
  if (fits && planned.max_charge)
    set_held(tx, budgets, found, {planned, *planned.max_charge, at, at});
  else if (has_rest)
    set_held(tx, budgets, found,
             by_meter(tx, books_.lock(tx, clock_).prices, found[0], planned, at));
  else
    set_held(tx, budgets, found, by_rate(found[0], planned, at));
}

void Budgets::extend_reservation(pqxx::work& tx, const PlannedSpending& planned) {
  const auto [at, budgets] = lock_tenant_budgets(tx, planned.tenant.value, clock_);
  if (budgets.empty()) return;
  const auto prices = books_.lock(tx, clock_).prices;
  // A sandbox that began before its tenant had budgets is limited by them from here on.
  open_missing_reservations(tx, planned.tenant.value, *prices, at);
  auto found = lock_reservations(tx, {planned.sandbox.value});
  if (found.empty()) return;
  take_rate(found[0], planned.charge_per_hour);
  const Change change = by_meter(tx, prices, found[0], planned, at);
  const Decimal more = change.target.charge - found[0].held;
  for (const Budget& budget : budgets)
    if (pays_for(budget, found[0]) && more > std::max(budget.remaining(), Decimal()))
      throw exceeded(budget, {more, found[0].currency});
  set_held(tx, budgets, found, change);
}

void Budgets::settle(pqxx::work& tx, const SandboxId& id, const Money& keep) {
  if (keep.amount.is_zero())
    release_reservations(tx, {id.value}, clock_);
  else
    shrink_reservation(tx, id.value, keep, clock_);
}

}  // namespace sandgate
