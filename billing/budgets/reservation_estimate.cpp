#include "billing/budgets/reservation_estimate.hpp"

#include "billing/prices/rating.hpp"
#include "billing/prices/run_cost.hpp"
#include "billing/usage/interval.hpp"
#include "billing/usage/metered_rows.hpp"

namespace sandgate {
namespace {

// How long after its beginning a sandbox whose backend counts may go without a reading.
constexpr std::chrono::minutes kFirstReading{2};

// Charges a run as it will be booked: each piece at the prices of its beginning.
RunCharge charge_pieces(const PriceSnapshot& prices, const PriceScope& scope, const Resources& size,
                        const std::vector<Interval>& pieces, const std::string& currency) {
  RunCharge sum;
  RunQuantities before;
  Time::duration ran{};
  for (const Interval& piece : pieces) {
    ran += piece.to - piece.from;
    const RunQuantities after = used_by(size, ran);
    for (size_t i = 0; i < after.size(); ++i) {
      const auto& [meter, total] = after[i];
      const Decimal quantity = total - before[i].second;
      const Rated rated = rate(prices, scope, meter, piece.from, before[i].second, quantity);
      if (quantity.is_zero() || rated.charge.currency != currency) continue;
      sum.charge += rated.charge.amount;
      if (meter != MeterKind::sandbox_created) sum.by_time += rated.by_unit;
    }
    before = after;
  }
  return sum;
}

// Adds the sandbox's time up to `until`, in its present state.
void add_time(RunCharge& sum, const PriceSnapshot& prices, MeteredLife& life, Time until,
              const std::string& currency) {
  for (const UsageEvent& event : book(life, until, prices, SIZE_MAX)) {
    if (event.rated.charge.currency != currency) continue;
    sum.charge += event.rated.charge.amount;
    if (event.meter != MeterKind::sandbox_created) sum.by_time += event.rated.by_unit;
  }
}

// Adds active CPU since the last reading, as if the processors were fully busy; without a reading
// since shortly before the boundary.
void add_busy(RunCharge& sum, const PriceSnapshot& prices, const MeteredRow& row, Time until,
              const std::string& currency) {
  MeteredCounters counters = row.counters;
  if (counters.read_at == Time())
    counters.observed_at = std::max(counters.observed_at, row.life.boundary - kFirstReading);
  Decimal before = counters.cpu_total;
  for (const Interval& piece : counters.running_until(until, until, prices)) {
    const Decimal quantity =
        vcpu_seconds(row.life.resources.milli_vcpu, (piece.to - piece.from).count());
    const Rated rated =
        rate(prices, row.life.scope(), MeterKind::active_cpu_second, piece.from, before, quantity);
    before += quantity;
    if (rated.charge.currency != currency) continue;
    sum.charge += rated.charge.amount;
    sum.by_time += rated.by_unit;
  }
}

}  // namespace

RunCharge estimate_new_run(const PriceSnapshot& prices, const PriceScope& scope,
                           const Resources& size, Time at, std::chrono::seconds late,
                           std::chrono::seconds ttl, const std::string& currency) {
  const auto duration = std::min<std::chrono::seconds>(ttl, kReservationHorizon);
  // The prices at the beginning are the least: a price that falls later lowers nothing.
  RunCharge most = charge_pieces(prices, scope, size, {{at, at + duration}}, currency);
  const auto consider = [&](Time begun) {
    const Interval run{begun, begun + duration};
    const auto pieces = split_interval(run, prices.changes(run.from, run.to), SIZE_MAX);
    const RunCharge then = charge_pieces(prices, scope, size, pieces, currency);
    if (then.charge > most.charge) most = then;
  };
  if (!prices.changes(at, at + duration).empty()) consider(at);
  if (!prices.changes(at, at + late).empty()) consider(at + late);
  if (ttl > kReservationHorizon) most.charge += charge_of_steps(prices, scope, size, at, currency);
  return most;
}

RunCharge estimate_remaining_run(const PriceSnapshot& prices, MeteredRow row,
                                 const RemainingRun& rest, const std::string& currency) {
  RunCharge sum;
  MeteredLife& life = row.life;
  const Time until = std::min(rest.until, life.ends_at.value_or(rest.until));
  if (rest.resumes_at && life.state != MeterState::running) {
    add_time(sum, prices, life, *rest.resumes_at, currency);
    row.counters.resume(*rest.resumes_at);
    life.state = MeterState::running;
  }
  add_busy(sum, prices, row, until, currency);
  add_time(sum, prices, life, until, currency);
  if (rest.may_run_on)
    sum.charge += charge_of_steps(prices, life.scope(), life.charged(), until, currency);
  return sum;
}

Money uncounted_time(const PriceSnapshot& prices, const MeteredRow& row) {
  const Time booked = row.life.boundary, counted = row.counters.observed_at;
  Time::duration beyond{};
  if (row.life.state == MeterState::running && counted > booked) beyond = counted - booked;
  const Decimal quantity = vcpu_seconds(row.life.resources.milli_vcpu, beyond.count());
  const Rated ahead =
      rate(prices, row.life.scope(), MeterKind::active_cpu_second, booked, Decimal(), quantity);
  RunCharge behind;
  add_busy(behind, prices, row, booked, ahead.charge.currency);
  return {behind.by_time - ahead.by_unit, ahead.charge.currency};
}

Money last_reading_charge(const PriceSnapshot& prices, const MeteredRow& row) {
  const Time booked = row.life.boundary;
  const Rated rated = rate(prices, row.life.scope(), MeterKind::active_cpu_second, booked,
                           row.counters.cpu_total, Decimal());
  RunCharge sum;
  add_busy(sum, prices, row, booked, rated.charge.currency);
  return {sum.charge, rated.charge.currency};
}

}  // namespace sandgate
