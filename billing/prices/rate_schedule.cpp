#include "billing/prices/rate_schedule.hpp"

#include <algorithm>

#include "billing/budgets/budget.hpp"
#include "billing/prices/rating.hpp"

namespace sandgate {

// Zero is the same in every currency.
bool RateSchedule::counts(const std::optional<Money>& rate) const {
  return rate && (rate->currency == currency_ || rate->amount.is_zero());
}

Decimal RateSchedule::rate(Time at, const Decimal& before) const {
  const auto rate = charge_per_hour(prices_, life_.scope(), life_.charged(), at);
  return counts(rate) ? rate->amount : before;
}

bool RateSchedule::is_foreign(Time at) const {
  const auto rate = charge_per_hour(prices_, life_.scope(), life_.charged(), at);
  return rate && !counts(rate);
}

Decimal RateSchedule::charge(Time from, Time to) const {
  auto ends = prices_.changes(from, to);
  ends.push_back(to);
  Decimal sum, per_hour = per_hour_;
  for (const Time end : ends) {
    per_hour = rate(from, per_hour);
    sum += estimate(per_hour, end - from);
    from = end;
  }
  return sum;
}

Time RateSchedule::lasts(Time from, Decimal amount) const {
  Decimal per_hour = per_hour_;
  for (const Time change : prices_.changes(from, Time::max())) {
    per_hour = rate(from, per_hour);
    const Time end = from + sandgate::lasts(amount, per_hour);
    if (end < change) return end;
    amount = std::max(amount - estimate(per_hour, change - from), Decimal());
    from = change;
  }
  return from + sandgate::lasts(amount, rate(from, per_hour));
}

}  // namespace sandgate
