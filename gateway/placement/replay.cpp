#include "gateway/placement/replay.hpp"

#include <algorithm>
#include <set>

#include "billing/prices/run_cost.hpp"

namespace sandgate {
namespace {

Breaker breaker_from(const std::string& word) {
  for (const Breaker breaker : {Breaker::open, Breaker::half_open})
    if (to_string(breaker) == word) return breaker;
  return Breaker::closed;
}

}  // namespace

std::map<std::string, Health, std::less<>> recorded_health(const Json& decision) {
  std::map<std::string, Health, std::less<>> all;
  for (const Json& candidate : decision.value("candidates", Json::array())) {
    const Json seen = candidate.value("health", Json::object());
    Health health{.breaker = breaker_from(seen.value("breaker", "closed")),
                  .failure_rate = seen.value("failure_rate", 0.0)};
    const Json latency = candidate.value("latency_p50_ms", Json());
    if (latency.is_number()) health.latency_p50_ms = latency.get<double>();
    for (const Json& reason : candidate.value("rejected_because", Json::array()))
      health.resting = health.resting || reason == "resting";
    all.emplace(candidate.value("deployment", ""), health);
  }
  return all;
}

Json to_json(const ReplayReport& report) {
  Json deployments = Json::array();
  for (const auto& [name, share] : report.deployments)
    deployments.push_back({{"deployment", name}, {"before", share.before}, {"after", share.after}});
  return {{"requests", report.requests},
          {"moved", report.moved},
          {"deployments", std::move(deployments)},
          {"without_backend",
           {{"before", report.nowhere.before},
            {"after", report.nowhere.after},
            {"rejected_because", report.rejected_because}}},
          {"refused", report.refused},
          {"left", report.left},
          {"cost",
           {{"currency", report.currency},
            {"before", report.cost_before.to_string()},
            {"after", report.cost_after.to_string()},
            {"difference", (report.cost_after - report.cost_before).to_string()},
            {"compared", report.compared}}}};
}

Replay::Replay(Profile draft, TenantId tenant, std::shared_ptr<const DeploymentSet> deployments,
               std::shared_ptr<const PriceSnapshot> prices, bool price_required)
    : draft_(std::move(draft)),
      tenant_(std::move(tenant)),
      deployments_(std::move(deployments)),
      prices_(std::move(prices)),
      price_required_(price_required) {}

Decision Replay::decide_again(const RecordedRequest& request, const EffectiveRequest& asked) const {
  std::vector<Candidate> candidates;
  candidates.reserve(deployments_->size());
  for (const DeploymentPtr& one : *deployments_) {
    Candidate candidate{.deployment = one, .price_required = price_required_};
    add_price(candidate, *prices_, tenant_, asked.profile, request.at);
    const auto seen = request.health.find(one->name);
    if (seen != request.health.end()) candidate.health = seen->second;
    candidates.push_back(std::move(candidate));
  }
  return decide(asked, tenant_, draft_.name, request.sandbox, std::move(candidates));
}

void Replay::add(const RecordedRequest& request) {
  ++report_.requests;
  ++(request.deployment.empty() ? report_.nowhere : report_.deployments[request.deployment]).before;
  EffectiveRequest asked;
  try {
    asked = merge(draft_, request.overrides);
  } catch (const Error&) {
    ++report_.refused;
    if (report_.left.size() < ReplayReport::kExamples) report_.left.push_back(request.sandbox);
    return;
  }
  if (request.restore) {
    asked.snapshot = SnapshotId{};
    asked.snapshot_deployment = request.snapshot_deployment;
  }
  const Decision decision = decide_again(request, asked);
  if (decision.eligible() == 0) return leave(request, decision);
  const Deployment& chosen = *decision.candidates.front().deployment;
  ++report_.deployments[chosen.name].after;
  if (request.deployment.empty()) return;
  if (chosen.name != request.deployment) ++report_.moved;
  compare_costs(request, chosen, asked.profile);
}

void Replay::leave(const RecordedRequest& request, const Decision& decision) {
  ++report_.nowhere.after;
  std::set<std::string> reasons;
  for (const Candidate& candidate : decision.candidates)
    reasons.insert(candidate.rejected_because.begin(), candidate.rejected_because.end());
  for (const std::string& reason : reasons) ++report_.rejected_because[reason];
  if (report_.left.size() < ReplayReport::kExamples) report_.left.push_back(request.sandbox);
}

void Replay::compare_costs(const RecordedRequest& request, const Deployment& chosen,
                           const Profile& profile) {
  const std::string region = chosen.regions_within(profile.placement.regions).front();
  const DeploymentPtr then = find_deployment(*deployments_, tenant_, request.deployment);
  const bool was_own = then && then->tenant.has_value();
  const auto before = charge_of_run(
      *prices_, {tenant_.value, request.provider, request.deployment, request.region, was_own},
      request.resources, request.at, request.ran);
  const auto after = charge_of_run(
      *prices_, {tenant_.value, chosen.provider, chosen.name, region, chosen.tenant.has_value()},
      chosen.granted(profile.resources), request.at, request.ran);
  if (!before || !after || before->currency != after->currency) return;
  if (report_.compared == 0) report_.currency = before->currency;
  if (before->currency != report_.currency) return;
  ++report_.compared;
  report_.cost_before += before->amount;
  report_.cost_after += after->amount;
}

}  // namespace sandgate
