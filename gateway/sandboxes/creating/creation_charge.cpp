#include "gateway/sandboxes/creating/creation_charge.hpp"

#include <algorithm>

#include "billing/budgets/budgets.hpp"
#include "billing/prices/rating.hpp"
#include "gateway/sandboxes/creating/price_scope.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::minutes kUntilRunning{2};

// The run begins, and is rated, somewhat later than its cost is reserved.
RunCharge max_charge_of(const PriceSnapshot& prices, const PriceScope& scope, const Resources& size,
                        int64_t ttl_seconds, Time at, const std::string& currency) {
  return estimate_new_run(prices, scope, size, at, kUntilRunning, std::chrono::seconds(ttl_seconds),
                          currency);
}

// Raises `highest` to what a run is charged by `scope`.
void count_in(PlannedCharge& highest, const PriceSnapshot& prices, const PriceScope& scope,
              const Resources& size, int64_t ttl_seconds, Time at) {
  auto charge = charge_per_hour(prices, scope, size, at);
  if (!charge) return;
  const RunCharge run = max_charge_of(prices, scope, size, ttl_seconds, at, charge->currency);
  // A free run has no currency of its own, so all currencies it may be charged in are others.
  const bool is_free = charge->amount.is_zero() && run.charge.is_zero();
  const std::string currency = is_free ? std::string() : charge->currency;
  highest.other_currencies.merge(other_currencies(prices, scope, at, currency));
  if (is_free) return;
  if (!highest.max_charge || run.charge > highest.max_charge->charge) highest.max_charge = run;
  if (highest.per_hour && highest.per_hour->currency != charge->currency)
    highest.other_currencies.insert({highest.per_hour->currency, charge->currency});
  if (!highest.per_hour || charge->amount > highest.per_hour->amount)
    highest.per_hour = std::move(charge);
}

// Whether the run is charged more than `left` by `scope`, as far as that is known.
bool is_dearer(const Money& left, const PriceSnapshot& prices, const PriceScope& scope,
               const Resources& size, int64_t ttl_seconds, Time at) {
  const auto charge = charge_per_hour(prices, scope, size, at);
  if (!charge || charge->currency != left.currency) return false;
  return max_charge_of(prices, scope, size, ttl_seconds, at, left.currency).charge > left.amount;
}

}  // namespace

PlannedCharge highest_charge(const LifecycleParts& parts, const Decision& decision,
                             const SandboxRecord& wanted) {
  const auto prices = parts.prices.snapshot();
  const Time at = parts.clock.now();
  PlannedCharge highest;
  highest.generation = prices->generation();
  for (const Candidate& candidate : decision.candidates) {
    if (!candidate.eligible()) continue;
    const Deployment& one = *candidate.deployment;
    const Resources size = one.granted(wanted.resources);
    for (const std::string& region : one.regions_within(decision.requirements.placement.regions))
      count_in(highest, *prices, price_scope_of(one, wanted.tenant.value, region), size,
               wanted.ttl_seconds, at);
  }
  return highest;
}

bool reject_unaffordable(const LifecycleParts& parts, Decision& decision,
                         const SandboxRecord& wanted, const Error& refusal) {
  if (refusal.code != ErrorCode::budget_exceeded) return false;
  const auto amount = Decimal::parse_printed(refusal.details.value("remaining", ""));
  if (!amount) return false;
  const Money left{*amount, refusal.details.value("currency", "")};
  const auto prices = parts.prices.snapshot();
  const Time at = parts.clock.now();
  bool any = false;
  for (Candidate& candidate : decision.candidates) {
    if (!candidate.eligible()) continue;
    const Deployment& one = *candidate.deployment;
    const Resources size = one.granted(wanted.resources);
    const auto regions = one.regions_within(decision.requirements.placement.regions);
    if (std::ranges::none_of(regions, [&](const std::string& region) {
          return is_dearer(left, *prices, price_scope_of(one, wanted.tenant.value, region), size,
                           wanted.ttl_seconds, at);
        }))
      continue;
    candidate.rejected_because.push_back("budget");
    any = true;
  }
  return any && decision.eligible() > 0;
}

RunCharge start_charge(const LifecycleParts& parts, const SandboxRecord& placed) {
  const PriceScope scope = price_scope_of(parts.deployments, placed);
  return max_charge_of(*parts.prices.snapshot(), scope, placed.resources, placed.ttl_seconds,
                       parts.clock.now(), placed.currency);
}

}  // namespace sandgate
