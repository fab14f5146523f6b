#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "billing/prices/price_snapshot.hpp"
#include "gateway/placement/candidate.hpp"
#include "gateway/placement/requirements.hpp"

namespace sandgate {

// How one attempt to create on a deployment ended.
enum class AttemptOutcome {
  created,
  failed,  // certain: nothing was left behind (see is_definite_failure)
  unknown,  // late, broken or missing answer: the reaper looks for the sandbox
  lost_race,  // created after another attempt had won; killed
};
std::string_view to_string(AttemptOutcome outcome);

struct Attempt {
  std::string deployment;
  AttemptOutcome outcome = AttemptOutcome::unknown;
  std::optional<ErrorCode> code;
  std::chrono::milliseconds duration{0};  // until it was answered, given up or overtaken
};

// Why a backend was chosen; stored, and returned by GET …/decision.
struct Decision {
  DecisionId id;
  std::string profile;  // "name@version"
  Requirements requirements;
  std::vector<Candidate> candidates;  // by rank, then the rejected ones
  std::vector<Attempt> attempts;
  std::string chosen;  // empty: none

  size_t eligible() const;
};

Json to_json(const Decision& decision);
Json candidates_json(const std::vector<Candidate>& candidates);
Json to_json(const Attempt& attempt);

// Derives the requirements, filters the candidates and ranks them. No I/O; under 50 µs for 30
// deployments (tests/bench/decision_bench.cpp), without the price lookups.
Decision decide(const EffectiveRequest& request, const TenantId& tenant, std::string profile,
                std::string_view seed, std::vector<Candidate> candidates);

// Sets the candidate's charge to the tenant and its vendor cost, at the prices of `at`: those of
// the region that will be asked for, or of the dearest where the backend chooses among several. The
// expected run is the TTL, but at most an hour.
void add_price(Candidate& candidate, const PriceSnapshot& prices, const TenantId& tenant,
               const Profile& profile, Time at);

// A candidate with price and health for every deployment that the tenant may use.
std::vector<Candidate> candidates_of(const DeploymentSet& set, const HealthBoard& board,
                                     const PriceSnapshot& prices, const TenantId& tenant,
                                     const Profile& profile, Time now);

// Error(unsupported) when no deployment could ever satisfy the request; Error(no_capacity) with
// retry_after when one could later. Both list the candidates. Only for decisions without eligible
// candidates.
Error nothing_eligible(const Decision& decision);

// When a create that failed with that code is worth another try, where no backend said so; empty
// for codes that time does not cure.
std::optional<std::chrono::milliseconds> usual_wait(ErrorCode code);

// Warnings for publishing a profile; none when some deployment that `owner` may use satisfies it
// (owner empty: one that every tenant may use).
std::vector<std::string> placement_warnings(const Profile& profile,
                                            const std::optional<TenantId>& owner,
                                            const DeploymentSet& set, const PriceSnapshot& prices,
                                            Time now);

}  // namespace sandgate
