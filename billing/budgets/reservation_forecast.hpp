#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "billing/budgets/budget_rows.hpp"
#include "billing/usage/interval.hpp"
#include "billing/usage/metered_rows.hpp"

namespace sandgate {

// How the sandbox of a reservation is charged from here on.
struct Forecast {
  std::optional<MeteredRow> row;  // empty: not metered yet
  bool ended = false;  // and is charged for nothing from here on
  bool foreign = false;  // charged in another currency than its reservation's
  Decimal lacking;  // needed beyond what is held before any of it lasts

  bool is_paused() const { return row && row->life.state != MeterState::running; }
  // The charge for time of the reservation's sandbox, by the reservation's rate alone while that is
  // not metered.
  Decimal charge(const PriceSnapshot& prices, const Reservation& of, Interval time) const;
  // Until when an amount lasts from `from` on, in the same way.
  Time lasts(const PriceSnapshot& prices, const Reservation& of, Time from,
             const Decimal& amount) const;
};
using Forecasts = std::map<std::string, Forecast>;  // by sandbox

// Of the reservations whose sandboxes are metered. Updates their rates to the prices in force at
// `at`, and how long they last where that has changed.
Forecasts make_forecasts(pqxx::work& tx, std::vector<Reservation>& reservations,
                         const PriceSnapshot& prices, Time at);

}  // namespace sandgate
