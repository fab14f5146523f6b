#include "billing/budgets/budget_shares.hpp"

#include <algorithm>

#include "billing/budgets/funds.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::microseconds kStep{1};

// The latest moment for which `holds` is true, where that is so of `low` and not of `high`.
template <class Holds>
Time latest_moment(Time low, Time high, const Holds& holds) {
  while (high - low > kStep) {
    const Time middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

Decimal cost_up_to(const Claim& claim, Time moment) {
  const Time to = std::min(moment, claim.until);
  return to > claim.from ? claim.cost(to) : Decimal();
}

using Claims = std::vector<const Claim*>;

// The budgets that cannot pay for all of the claims up to the moment.
std::vector<const Budget*> short_at(const std::vector<Budget>& budgets, const Claims& claims,
                                    Time moment) {
  std::vector<Decimal> sums(budgets.size());
  for (const Claim* claim : claims) {
    const Decimal cost = cost_up_to(*claim, moment);
    for (size_t i = 0; i < budgets.size(); ++i)
      if (pays_for(budgets[i], *claim->reservation)) sums[i] += cost;
  }
  std::vector<const Budget*> result;
  for (size_t i = 0; i < budgets.size(); ++i)
    if (sums[i] > std::max(budgets[i].remaining(), Decimal())) result.push_back(&budgets[i]);
  return result;
}

Time moment_for_all(const std::vector<Budget>& budgets, const Claims& claims) {
  Time low = Time::max(), high = Time::min();
  for (const Claim* claim : claims) {
    low = std::min(low, claim->from);
    high = std::max(high, claim->until);
  }
  const auto suffices = [&](Time moment) { return short_at(budgets, claims, moment).empty(); };
  return high <= low || suffices(high) ? high : latest_moment(low, high, suffices);
}

}  // namespace

std::vector<Decimal> fair_shares(std::vector<Budget> budgets, const std::vector<Claim>& claims) {
  std::vector<Decimal> shares(claims.size());
  Claims open;
  for (const Claim& claim : claims)
    if (available(budgets, *claim.reservation) != Decimal()) open.push_back(&claim);
  while (!open.empty()) {
    const Time moment = moment_for_all(budgets, open);
    // Empty: it is the end of every claim.
    const auto tight = short_at(budgets, open, moment + kStep);
    const auto goes_on = [&](const Claim* claim) {
      return !tight.empty() && std::ranges::none_of(tight, [&](const Budget* budget) {
        return pays_for(*budget, *claim->reservation);
      });
    };
    const auto settled = std::stable_partition(open.begin(), open.end(), goes_on);
    for (const Claim* claim : std::span(settled, open.end())) {
      const Decimal share = cost_up_to(*claim, moment);
      shares[static_cast<size_t>(claim - claims.data())] = share;
      add_reserved(budgets, *claim->reservation, share);
    }
    open.erase(settled, open.end());
  }
  return shares;
}

std::vector<Decimal> fair_cuts(std::span<const Reservation> reservations, const Decimal& excess,
                               Time lowest) {
  const auto cut = [](const Reservation& one, Time moment) {
    return std::min(one.held, estimate(one.charge_per_hour, one.covered_until - moment));
  };
  const auto suffices = [&](Time moment) {
    Decimal sum;
    for (const Reservation& one : reservations) sum += cut(one, moment);
    return sum >= excess;
  };
  Time highest = lowest;
  for (const Reservation& one : reservations) highest = std::max(highest, one.covered_until);
  const Time moment = suffices(lowest) ? latest_moment(lowest, highest, suffices) : lowest;
  std::vector<Decimal> cuts;
  Decimal left = excess;
  for (const Reservation& one : reservations) {
    cuts.push_back(std::min(cut(one, moment), left));
    left -= cuts.back();
  }
  return cuts;
}

}  // namespace sandgate
