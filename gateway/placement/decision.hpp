#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "billing/price_snapshot.hpp"
#include "gateway/placement/candidate.hpp"
#include "gateway/placement/requirements.hpp"

namespace sandgate {

// How one try to create on a deployment ended.
enum class AttemptOutcome {
  created,
  failed,  // for certain: nothing was left behind (see is_certain)
  unknown,  // no answer in time or a broken one: the reaper finds out
  lost_race,  // created, but another was faster: killed
};
std::string_view to_string(AttemptOutcome outcome);

struct Attempt {
  std::string deployment;
  AttemptOutcome outcome = AttemptOutcome::unknown;
  std::optional<ErrorCode> code;
  std::chrono::milliseconds duration{0};
};

// Why a backend was chosen: kept, and answered by GET …/decision.
struct Decision {
  DecisionId id;
  std::string profile;  // "name@version"
  Requirements requirements;
  std::vector<Candidate> candidates;  // ranked first, then the rejected
  std::vector<Attempt> attempts;
  std::string chosen;  // empty: none

  size_t eligible() const;
};

Json to_json(const Decision& decision);
Json candidates_json(const std::vector<Candidate>& candidates);
Json to_json(const Attempt& attempt);

// requirements -> candidates -> filter -> rank, on values of this moment. No I/O; under 50 µs for
// 30 deployments (tests/bench/decision_bench.cpp) without the time the price books take.
Decision decide(const EffectiveRequest& request, const TenantId& tenant, std::string profile,
                std::string_view seed, std::vector<Candidate> candidates);

// Fills in what the candidate's deployment would be charged to the tenant and cost, at prices of
// `at`. A run is expected to take its TTL, an hour at most.
void add_price(Candidate& candidate, const PriceSnapshot& prices, const TenantId& tenant,
               const Profile& profile, Time at);

// The candidates of a tenant's decision: every deployment with its price and health.
std::vector<Candidate> candidates_of(const DeploymentSet& set, const HealthBoard& board,
                                     const PriceSnapshot& prices, const TenantId& tenant,
                                     const Profile& profile, Time now);

// Error(unsupported) when no deployment could ever satisfy the request, Error(no_capacity) when
// one could but not now; both carry the candidates. Only for decisions without eligible ones.
Error nothing_eligible(const Decision& decision);

// Warnings for publishing a profile: none when some deployment satisfies it that `owner` may use
// (empty: that everybody may use).
std::vector<std::string> placement_warnings(const Profile& profile,
                                            const std::optional<TenantId>& owner,
                                            const DeploymentSet& set, const PriceSnapshot& prices,
                                            Time now);

}  // namespace sandgate
