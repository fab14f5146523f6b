#include "billing/budgets/reservation_forecast.hpp"

#include <algorithm>
#include <utility>

#include "billing/budgets/reservation_estimate.hpp"
#include "billing/prices/rate_schedule.hpp"
#include "billing/prices/rating.hpp"

namespace sandgate {
namespace {

// Reckons anew how long a reservation lasts, by all published prices.
void reprice(Reservation& reservation, Forecast& forecast, const PriceSnapshot& prices, Time at) {
  const MeteredRow& row = *forecast.row;
  const Time until = std::clamp(reservation.ends_at, at, at + kReservationHorizon);
  const RunCharge rest = estimate_remaining_run(
      prices, row, {.until = until, .may_run_on = until < reservation.ends_at},
      reservation.currency);
  reservation.ahead = rest.by_time - rest.charge;
  const Money uncounted = uncounted_time(prices, row);
  const bool same = uncounted.currency == reservation.currency;
  const Decimal paid = reservation.held + reservation.ahead - (same ? uncounted.amount : Decimal());
  if (paid.is_negative()) forecast.lacking = -paid;
  reservation.covered_until =
      forecast.lasts(prices, reservation, row.life.boundary, std::max(paid, Decimal()));
}

}  // namespace

Decimal Forecast::charge(const PriceSnapshot& prices, const Reservation& of, Interval time) const {
  if (!row) return estimate(of.charge_per_hour, time.to - time.from);
  return RateSchedule(prices, row->life, of.currency, of.charge_per_hour)
      .charge(time.from, time.to);
}

Time Forecast::lasts(const PriceSnapshot& prices, const Reservation& of, Time from,
                     const Decimal& amount) const {
  if (!row) return from + sandgate::lasts(amount, of.charge_per_hour);
  return RateSchedule(prices, row->life, of.currency, of.charge_per_hour).lasts(from, amount);
}

Forecasts make_forecasts(pqxx::work& tx, std::vector<Reservation>& reservations,
                         const PriceSnapshot& prices, Time at) {
  std::map<std::string, Reservation*> known;
  std::set<std::string> sandboxes;
  for (Reservation& reservation : reservations) {
    known[reservation.sandbox] = &reservation;
    sandboxes.insert(reservation.sandbox);
  }
  Forecasts forecasts;
  for (MeteredRow& row : read_metered(tx, sandboxes)) {
    Reservation& reservation = *known.at(row.life.id.value);
    const bool out_of_date = std::exchange(reservation.reprice, false);
    const auto rate = charge_per_hour(prices, row.life.scope(), row.life.charged(), at);
    const bool ended = row.life.closed || row.life.unbooked_end;
    if (!rate && !ended) continue;
    Forecast& forecast = forecasts[reservation.sandbox];
    forecast.ended = ended;
    if (ended) continue;
    forecast.row = std::move(row);
    if (rate->currency != reservation.currency) {
      forecast.foreign = !rate->amount.is_zero();
      if (forecast.foreign || !out_of_date) continue;
    }
    const Decimal before = std::exchange(reservation.charge_per_hour, rate->amount);
    const bool overdrawn =
        before.is_zero() && rate->amount.is_zero() && reservation.covered_until <= at;
    if (before != rate->amount || (out_of_date && !overdrawn))
      reprice(reservation, forecast, prices, at);
  }
  return forecasts;
}

}  // namespace sandgate
