#include "billing/budgets/budget_posting.hpp"

#include <algorithm>

#include "billing/budgets/funds.hpp"
#include "billing/prices/rate_schedule.hpp"
#include "billing/sql_array.hpp"

namespace sandgate {
namespace {

// Whether reservations include the meter. Future egress cannot be estimated.
bool is_reserved_for(MeterKind meter) { return meter != MeterKind::egress_gib; }

// Meters read from counters, at other moments than time is booked up to.
bool is_counter(MeterKind meter) {
  return meter == MeterKind::egress_gib || meter == MeterKind::active_cpu_second;
}

}  // namespace

// The sums of one sandbox's booked events.
struct BudgetPosting::Drawn {
  std::string currency;  // the reservation's: amounts in another draw on nothing
  Decimal running, by_time;  // of meters with a reservation; of their time at unit prices
  Decimal beyond;  // of meters without a reservation
  std::optional<Time> booked_until;  // empty: only counters
  bool has_cpu = false;
  Time latest;

  void add(const UsageEvent& event) {
    if (event.rated.charge.currency == currency) add_amounts(event);
    if (!is_counter(event.meter))
      booked_until = std::max(booked_until.value_or(event.interval.to), event.interval.to);
    if (event.meter == MeterKind::active_cpu_second) has_cpu = true;
    latest = std::max(latest, event.interval.to);
  }

  void add_amounts(const UsageEvent& event) {
    (is_reserved_for(event.meter) ? running : beyond) += event.rated.charge.amount;
    if (is_reserved_for(event.meter) && event.meter != MeterKind::sandbox_created)
      by_time += event.rated.by_unit;
  }
};

void BudgetPosting::lock(pqxx::work& tx, const std::vector<UsageEvent>& events) {
  std::set<std::string> tenants;
  Time latest;
  for (const UsageEvent& event : events) {
    tenants.insert(event.tenant);
    latest = std::max(latest, event.interval.from);
  }
  budgets_ = lock_budgets(tx, tenants, latest);
}

void BudgetPosting::charge(pqxx::work& tx, const std::vector<UsageEvent>& booked,
                           const BookingProgressMap& to) {
  if (budgets_.empty()) return;
  read_subjects(tx, booked);
  for (Budget& budget : budgets_)
    for (const UsageEvent& event : booked)
      if (event.tenant == budget.tenant && event.rated.charge.currency == budget.currency &&
          budget.covers(event.interval.from) && holds_for(budget, event.sandbox.value))
        budget.spent += event.rated.charge.amount;
  draw_down(tx, booked, to);
  emit_threshold_events(tx, budgets_);
  update_budgets(tx, budgets_);
}

void BudgetPosting::read_subjects(pqxx::work& tx, const std::vector<UsageEvent>& booked) {
  const bool all = std::all_of(budgets_.begin(), budgets_.end(), [](const Budget& budget) {
    return budget.applies_to.is_everything();
  });
  if (all) return;
  SqlArray sandboxes;
  for (const UsageEvent& event : booked) sandboxes.add(event.sandbox.value);
  for (const auto& row :
       tx.exec_params("SELECT sandbox, budget_subject(profile, key, metadata) FROM metered_sandbox"
                      " WHERE sandbox = ANY ($1::text[])",
                      sandboxes.str()))
    subjects_[row[0].as<std::string>()] = budget_subject_from(Json::parse(row[1].c_str()));
}

bool BudgetPosting::holds_for(const Budget& budget, const std::string& sandbox) const {
  if (budget.applies_to.is_everything()) return true;
  const auto found = subjects_.find(sandbox);
  return found != subjects_.end() && budget.applies_to.holds_for(found->second);
}

void BudgetPosting::draw_down(pqxx::work& tx, const std::vector<UsageEvent>& booked,
                              const BookingProgressMap& to) {
  std::set<std::string> sandboxes;
  for (const UsageEvent& event : booked) sandboxes.insert(event.sandbox.value);
  auto reservations = lock_reservations(tx, sandboxes);
  std::map<std::string, Drawn> drawn;
  for (const Reservation& one : reservations) drawn[one.sandbox].currency = one.currency;
  for (const UsageEvent& event : booked)
    if (const auto sum = drawn.find(event.sandbox.value); sum != drawn.end())
      sum->second.add(event);
  for (Reservation& reservation : reservations) {
    const auto found = to.find(reservation.sandbox);
    pay_running(reservation, drawn[reservation.sandbox],
                found == to.end() ? nullptr : &found->second);
  }
  // The money beside the reservations is known only after all of them were drawn on.
  for (Reservation& reservation : reservations) pay_beyond(reservation, drawn[reservation.sandbox]);
  if (!reservations.empty()) update_reservations(tx, reservations);
}

void BudgetPosting::pay_running(Reservation& reservation, const Drawn& sum,
                                const BookingProgress* to) {
  const Decimal part = std::min(reservation.held, sum.running);
  reservation.held -= part;
  reservation.ahead += sum.running - sum.by_time;
  add_reserved(budgets_, reservation, -part);
  // What exceeds the held amount is not covered, even at a rate of zero.
  if (part < sum.running)
    reservation.covered_until = sum.latest;
  else if (to && (sum.booked_until || sum.has_cpu))
    cover_from(reservation, *to);
  else if (sum.booked_until)
    reservation.covered_until =
        *sum.booked_until + lasts(reservation.paid(), reservation.charge_per_hour);
}

void BudgetPosting::cover_from(Reservation& reservation, const BookingProgress& to) {
  const RateSchedule schedule(to.prices, to.life, reservation.currency,
                              reservation.charge_per_hour);
  const Time from = to.life.boundary;
  if (!schedule.is_foreign(from)) {
    const bool same = to.uncounted.currency == reservation.currency;
    const Decimal paid = reservation.paid(same ? to.uncounted.amount : Decimal());
    reservation.covered_until = schedule.lasts(from, paid);
    return;
  }
  // It costs none of this money, and runs on for as long as the money would have lasted.
  if (reservation.charge_per_hour.is_zero()) reservation.covered_until = from;
  const Decimal rest = estimate(reservation.charge_per_hour, reservation.covered_until - from);
  const Decimal freed = reservation.held - std::min(reservation.held, rest);
  reservation.held -= freed;
  add_reserved(budgets_, reservation, -freed);
}

void BudgetPosting::pay_beyond(Reservation& reservation, const Drawn& sum) {
  if (sum.beyond.is_zero()) return;
  const auto left = min_remaining(budgets_, reservation);
  if (!left || *left > Decimal()) return;
  // The sandbox that sent it runs shorter, not those whose money it would use.
  const Decimal part = std::min({reservation.held, sum.beyond, -*left});
  reservation.held -= part;
  reservation.reprice = true;
  add_reserved(budgets_, reservation, -part);
  // At a rate of zero it would run for ever.
  if (reservation.charge_per_hour.is_zero())
    reservation.covered_until = sum.latest;
  else
    reservation.covered_until -= lasts(part, reservation.charge_per_hour);
}

}  // namespace sandgate
