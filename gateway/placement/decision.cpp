#include "gateway/placement/decision.hpp"

#include <algorithm>
#include <limits>

#include "billing/budgets/budgets.hpp"
#include "billing/prices/rating.hpp"
#include "billing/prices/run_cost.hpp"
#include "gateway/core/words.hpp"
#include "gateway/placement/filter.hpp"
#include "gateway/placement/rank.hpp"

namespace sandgate {
namespace {

constexpr Words kOutcomeWords({Word{AttemptOutcome::created, "created"},
                               Word{AttemptOutcome::failed, "failed"},
                               Word{AttemptOutcome::unknown, "unknown"},
                               Word{AttemptOutcome::lost_race, "lost_race"}});

// retry_after: until some sandbox has ended, or until a backend answers.
constexpr std::chrono::seconds kSomeoneEnds{30}, kFirstAnswer{2};

Json to_json(const Candidate& candidate) {
  Json price, expected, currency, latency, score, rank;
  if (candidate.price_per_hour) price = candidate.price_per_hour->to_string();
  if (const auto& money = candidate.expected_price) {
    expected = money->amount.to_string();
    currency = money->currency;  // of both prices
  }
  if (const auto whole = candidate.health.whole_latency_ms()) latency = *whole;
  if (candidate.eligible()) {
    rank = candidate.rank;
    if (candidate.score < std::numeric_limits<double>::max()) score = candidate.score;
  }
  return {{"deployment", candidate.deployment->name},
          {"eligible", candidate.eligible()},
          {"rejected_because", candidate.rejected_because},
          {"price_per_hour", std::move(price)},
          {"expected_price", std::move(expected)},
          {"currency", std::move(currency)},
          {"latency_p50_ms", std::move(latency)},
          {"health",
           {{"breaker", to_string(candidate.health.breaker)},
            {"failure_rate", candidate.health.failure_rate}}},
          {"score", std::move(score)},
          {"rank", std::move(rank)}};
}

// When to try again for a candidate whose reasons pass. How long a breaker stays open, or a limit
// of ours reached, may change with every create; what is left of a vendor's Retry-After does not.
std::chrono::milliseconds passes_after(const Candidate& one) {
  if (!one.deployment->descriptor.known) return kFirstAnswer;
  const auto rest = std::max(one.health.rest_left, one.account_backoff);
  const bool only_rests = rest.count() > 0 && one.health.breaker != Breaker::open;
  return only_rests ? rest : kSomeoneEnds;
}

}  // namespace

std::string_view to_string(AttemptOutcome outcome) { return kOutcomeWords.of(outcome); }

size_t Decision::eligible() const {
  return static_cast<size_t>(std::count_if(candidates.begin(), candidates.end(),
                                           [](const auto& one) { return one.eligible(); }));
}

Json to_json(const Attempt& attempt) {
  Json code;
  if (attempt.code) code = to_string(*attempt.code);
  return {{"deployment", attempt.deployment},
          {"outcome", to_string(attempt.outcome)},
          {"code", std::move(code)},
          {"duration_ms", attempt.duration.count()}};
}

Json candidates_json(const std::vector<Candidate>& candidates) {
  Json list = Json::array();
  for (const Candidate& candidate : candidates) list.push_back(to_json(candidate));
  return list;
}

Json to_json(const Decision& decision) {
  Json attempts = Json::array(), chosen;
  for (const Attempt& attempt : decision.attempts) attempts.push_back(to_json(attempt));
  if (!decision.chosen.empty()) chosen = decision.chosen;
  return {{"id", decision.id.value},
          {"profile", decision.profile},
          {"requirements", to_json(decision.requirements)},
          {"candidates", candidates_json(decision.candidates)},
          {"attempts", std::move(attempts)},
          {"chosen", std::move(chosen)}};
}

Decision decide(const EffectiveRequest& request, const TenantId& tenant, std::string profile,
                std::string_view seed, std::vector<Candidate> candidates) {
  Decision decision{.id = DecisionId::make(),
                    .profile = std::move(profile),
                    .requirements = requirements_of(request, tenant),
                    .candidates = std::move(candidates)};
  // Other tenants' deployments must not be visible, not even as rejected.
  std::erase_if(decision.candidates, [&](const Candidate& one) {
    return one.deployment->tenant && *one.deployment->tenant != tenant;
  });
  filter(decision.requirements, decision.candidates);
  rank(decision.requirements, seed, decision.candidates);
  return decision;
}

void add_price(Candidate& candidate, const PriceSnapshot& prices, const TenantId& tenant,
               const Profile& profile, Time at) {
  const Deployment& one = *candidate.deployment;
  const Resources size = one.granted(profile.resources);
  const std::chrono::seconds ttl(profile.ttl_seconds);
  bool is_first = true;
  for (const std::string& region : one.regions_within(profile.placement.regions)) {
    const PriceScope scope = price_scope_of(one, tenant.value, region);
    const auto hourly = hourly_charge(prices, scope, size, at);
    candidate.price_is_partial = candidate.price_is_partial || (hourly && hourly->is_partial);
    // Of several regions the dearest counts, and one without a price before all others.
    const auto& highest = candidate.price_per_hour;
    if (!is_first && (!highest || (hourly && hourly->charge.amount <= *highest))) continue;
    is_first = false;
    candidate.price_per_hour = hourly ? std::optional(hourly->charge.amount) : std::nullopt;
    candidate.expected_price = charge_of_run(
        prices, scope, size, at, std::min<std::chrono::seconds>(ttl, kReservationHorizon));
    const auto cost = prices.cost_per_hour(scope, size, at);
    candidate.cost_per_hour = cost ? std::optional(cost->amount) : std::nullopt;
  }
}

std::vector<Candidate> candidates_of(const DeploymentSet& set, const HealthBoard& board,
                                     const PriceSnapshot& prices, const TenantId& tenant,
                                     const Profile& profile, Time now) {
  std::vector<Candidate> candidates;
  candidates.reserve(set.size());
  for (const DeploymentPtr& one : set) {
    // Skip other tenants' deployments before prices are looked up.
    if (one->tenant && *one->tenant != tenant) continue;
    candidates.push_back(
        {.deployment = one,
         .health = board.health_of(one->key()),
         .account_busy = one->account && !one->account->is_free(one->account_limits),
         .account_backoff =
             one->account ? one->account->backoff_left() : std::chrono::milliseconds(0)});
    add_price(candidates.back(), prices, tenant, profile, now);
  }
  return candidates;
}

Error nothing_eligible(const Decision& decision) {
  std::optional<std::chrono::milliseconds> later;
  for (const Candidate& one : decision.candidates)
    if (one.only_now) later = std::min(later.value_or(passes_after(one)), passes_after(one));
  Error error =
      later ? Error(ErrorCode::no_capacity,
                    "deployments that satisfy this profile exist, but none is available now")
            : Error(ErrorCode::unsupported, "no configured deployment can satisfy this request");
  error.retry_after = later;
  error.details = {{"candidates", candidates_json(decision.candidates)}};
  return error;
}

std::optional<std::chrono::milliseconds> usual_wait(ErrorCode code) {
  if (code == ErrorCode::no_capacity) return kSomeoneEnds;
  if (code == ErrorCode::unavailable || code == ErrorCode::timeout) return kFirstAnswer;
  return std::nullopt;
}

std::vector<std::string> placement_warnings(const Profile& profile,
                                            const std::optional<TenantId>& owner,
                                            const DeploymentSet& set, const PriceSnapshot& prices,
                                            Time now) {
  const SystemClock clock;
  const HealthBoard nothing_known(clock);
  const TenantId tenant = owner.value_or(TenantId{});
  const Decision decision = decide(EffectiveRequest{.profile = profile}, tenant, profile.name, "",
                                   candidates_of(set, nothing_known, prices, tenant, profile, now));
  if (decision.eligible() > 0) return {};
  std::vector<std::string> warnings{"no configured deployment can satisfy this profile"};
  for (const Candidate& candidate : decision.candidates) {
    std::string line = candidate.deployment->name + ":";
    for (const std::string& reason : candidate.rejected_because) line += " " + reason;
    warnings.push_back(std::move(line));
  }
  return warnings;
}

}  // namespace sandgate
