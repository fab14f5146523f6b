#include "gateway/sandboxes/creation_charge.hpp"

#include "billing/budgets.hpp"
#include "billing/rating.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::minutes kUntilRunning{2};

// The run begins, and is rated, somewhat later than its cost is reserved.
RunCharge most_charged(const PriceSnapshot& prices, const PriceScope& scope, const Resources& size,
                       int64_t ttl_seconds, Time at, const std::string& currency) {
  return estimate_new_run(prices, scope, size, at, kUntilRunning, std::chrono::seconds(ttl_seconds),
                          currency);
}

// Refers to its arguments.
PriceScope scope_of(const Deployment& one, const TenantId& tenant, const std::string& region) {
  return {tenant.value, one.provider, one.name, region, one.tenant.has_value()};
}

}  // namespace

PlannedCharge highest_charge(const Lifecycle::Parts& parts, const Decision& decision,
                             const SandboxRecord& wanted) {
  const auto prices = parts.prices.snapshot();
  const Time at = parts.clock.now();
  PlannedCharge highest;
  highest.generation = prices->generation();
  for (const Candidate& candidate : decision.candidates) {
    if (!candidate.eligible()) continue;
    const std::string region = candidate.deployment->region();
    const PriceScope scope = scope_of(*candidate.deployment, wanted.tenant, region);
    const Resources size = candidate.deployment->granted(wanted.resources);
    auto charge = charge_per_hour(*prices, scope, size, at);
    if (!charge) continue;
    const RunCharge most =
        most_charged(*prices, scope, size, wanted.ttl_seconds, at, charge->currency);
    // A free run has no currency of its own, so all currencies it may be charged in are others.
    const bool is_free = charge->amount.is_zero() && most.charge.is_zero();
    const std::string currency = is_free ? std::string() : charge->currency;
    highest.other_currencies.merge(other_currencies(*prices, scope, at, currency));
    if (is_free) continue;
    if (!highest.most || most.charge > highest.most->charge) highest.most = most;
    if (highest.per_hour && highest.per_hour->currency != charge->currency)
      highest.other_currencies.insert({highest.per_hour->currency, charge->currency});
    if (!highest.per_hour || charge->amount > highest.per_hour->amount)
      highest.per_hour = std::move(charge);
  }
  return highest;
}

bool reject_unaffordable(const Lifecycle::Parts& parts, Decision& decision,
                         const SandboxRecord& wanted, const Error& refusal) {
  if (refusal.code != ErrorCode::budget_exceeded) return false;
  const auto left = Decimal::parse_printed(refusal.details.value("remaining", ""));
  const std::string currency = refusal.details.value("currency", "");
  const auto prices = parts.prices.snapshot();
  const Time at = parts.clock.now();
  bool any = false;
  for (Candidate& candidate : decision.candidates) {
    if (!candidate.eligible()) continue;
    const std::string region = candidate.deployment->region();
    const PriceScope scope = scope_of(*candidate.deployment, wanted.tenant, region);
    const Resources size = candidate.deployment->granted(wanted.resources);
    const auto charge = charge_per_hour(*prices, scope, size, at);
    if (!left || !charge || charge->currency != currency) continue;
    const RunCharge most = most_charged(*prices, scope, size, wanted.ttl_seconds, at, currency);
    if (most.charge <= *left) continue;
    candidate.rejected_because.push_back("budget");
    any = true;
  }
  return any && decision.eligible() > 0;
}

RunCharge start_charge(const Lifecycle::Parts& parts, const SandboxRecord& placed) {
  const PriceScope scope = price_scope_of(parts.deployments, placed);
  return most_charged(*parts.prices.snapshot(), scope, placed.resources, placed.ttl_seconds,
                      parts.clock.now(), placed.currency);
}

}  // namespace sandgate
