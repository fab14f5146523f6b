#include "gateway/placement/rank.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace sandgate {
namespace {

constexpr double kLast = std::numeric_limits<double>::max();
constexpr double kShareWithin = 1.25;  // times the fastest: these share the load
constexpr uint64_t kExploreOneIn = 20;

// FNV-1a with a final mix: the same on every build and machine.
uint64_t hash_of(std::string_view seed, std::string_view salt) {
  uint64_t hash = 14695981039346656037ULL;
  for (const std::string_view part : {seed, std::string_view("\0", 1), salt})
    for (const char byte : part) hash = (hash ^ static_cast<uint8_t>(byte)) * 1099511628211ULL;
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccdULL;
  hash ^= hash >> 33;
  hash *= 0xc4ceb9fe1a85ec53ULL;
  return hash ^ (hash >> 33);
}

// Uniform in (0, 1).
double draw(std::string_view seed, std::string_view salt) {
  return (static_cast<double>(hash_of(seed, salt) >> 11) + 0.5) / 9007199254740992.0;
}

// Whether the price is known, and all of it in one currency.
bool has_whole_price(const Candidate& one) { return one.expected_price && !one.price_is_partial; }

// Amounts are comparable within one currency only: the most common one.
std::string usual_currency(const std::vector<Candidate*>& eligible) {
  std::map<std::string, size_t> counts;
  std::string usual;
  for (const Candidate* one : eligible)
    if (has_whole_price(*one) && !one->expected_price->amount.is_zero())
      ++counts[one->expected_price->currency];
  for (const auto& [currency, count] : counts)
    if (usual.empty() || count > counts[usual]) usual = currency;
  return usual;
}

void by_price(std::vector<Candidate*>& eligible) {
  // Sort by exact decimals, so that rounding never decides; the score is the place in that order.
  const std::string currency = usual_currency(eligible);
  std::vector<Candidate*> priced;
  for (Candidate* one : eligible) {
    one->score = kLast;
    if (!has_whole_price(*one)) continue;
    // Zero is so in every currency.
    const Money& price = *one->expected_price;
    if (price.amount.is_zero() || price.currency == currency) priced.push_back(one);
  }
  // At equal charge, the lower cost to us.
  const Decimal free;
  const auto price_of = [&](const Candidate* one) {
    return std::tie(one->expected_price->amount, one->cost_per_hour ? *one->cost_per_hour : free);
  };
  std::sort(priced.begin(), priced.end(),
            [&](const Candidate* a, const Candidate* b) { return price_of(a) < price_of(b); });
  for (size_t i = 0; i < priced.size(); ++i) {
    const bool same = i > 0 && price_of(priced[i]) == price_of(priced[i - 1]);
    priced[i]->score = same ? priced[i - 1]->score : static_cast<double>(i);
  }
}

// A failed attempt is taken to cost about a second.
double expected_ms(const Health& health) {
  const double working = std::max(0.05, 1 - health.failure_rate);
  return *health.latency_p50_ms / working + 1000 * health.failure_rate;
}

void by_speed(std::string_view seed, std::vector<Candidate*>& eligible) {
  const bool explore = hash_of(seed, "explore") % kExploreOneIn == 0;
  double fastest = kLast;
  for (Candidate* one : eligible) {
    const bool measured = one->health.latency_p50_ms.has_value();
    one->score = measured ? expected_ms(one->health) : explore ? 0 : kLast;
    if (measured) fastest = std::min(fastest, one->score);
  }
  for (Candidate* one : eligible) {
    if (!one->health.latency_p50_ms) continue;
    if (one->score <= fastest * kShareWithin)
      one->score = fastest * draw(seed, one->deployment->name);
  }
}

void by_order(const PlacementPolicy& policy, std::vector<Candidate*>& eligible) {
  for (Candidate* one : eligible) {
    const auto found = std::find(policy.order.begin(), policy.order.end(), one->deployment->name);
    one->score = static_cast<double>(found - policy.order.begin());
  }
}

// Efraimidis-Spirakis sampling: the smallest exponential draw wins with probability proportional to
// its weight, and the rest are ordered as if the winner were absent.
void by_weight(const PlacementPolicy& policy, std::string_view seed,
               std::vector<Candidate*>& eligible) {
  for (Candidate* one : eligible) {
    int64_t weight = policy.weights.empty() ? one->deployment->weight : 0;
    const auto named = policy.weights.find(one->deployment->name);
    if (named != policy.weights.end()) weight = named->second;
    one->score = weight > 0
                     ? -std::log(draw(seed, one->deployment->name)) / static_cast<double>(weight)
                     : kLast;
  }
}

bool better(const Candidate& a, const Candidate& b) {
  if (a.score != b.score) return a.score < b.score;
  if (a.health.breaker != b.health.breaker) return a.health.breaker == Breaker::closed;
  if (a.health.failure_rate != b.health.failure_rate)
    return a.health.failure_rate < b.health.failure_rate;
  return a.deployment->name < b.deployment->name;
}

}  // namespace

void rank(const Requirements& requirements, std::string_view seed,
          std::vector<Candidate>& candidates) {
  std::vector<Candidate*> eligible;
  for (Candidate& candidate : candidates)
    if (candidate.eligible()) eligible.push_back(&candidate);
  const PlacementPolicy& policy = requirements.placement;
  switch (policy.strategy) {
    case Strategy::cheapest:
      by_price(eligible);
      break;
    case Strategy::fastest:
      by_speed(seed, eligible);
      break;
    case Strategy::priority:
      by_order(policy, eligible);
      break;
    case Strategy::weighted:
      by_weight(policy, seed, eligible);
      break;
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    if (a.eligible() != b.eligible()) return a.eligible();
    return a.eligible() ? better(a, b) : a.deployment->name < b.deployment->name;
  });
  int next = 0;
  for (Candidate& candidate : candidates) candidate.rank = candidate.eligible() ? ++next : 0;
}

}  // namespace sandgate
