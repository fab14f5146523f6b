#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "billing/price_snapshot.hpp"
#include "gateway/placement/decision.hpp"

namespace sandgate {

// A create of the past: what was asked for, what was known then, and what came of it.
struct RecordedRequest {
  std::string sandbox;  // its id; decides weighted draws
  Time at;
  Json wishes = Json::object();  // the tightenings of its body
  bool restore = false;  // of a snapshot, which only `snapshot_deployment` holds
  std::string snapshot_deployment;
  std::map<std::string, Health, std::less<>> health;  // by deployment, of those considered then
  std::string deployment, provider, region;  // where it ran; empty: nowhere
  Resources resources;
  std::chrono::microseconds ran{0};
};

// Health of the candidates of a decision as GET …/decision shows it.
std::map<std::string, Health, std::less<>> recorded_health(const Json& decision);

// What a draft would have done with them.
struct ReplayReport {
  struct Share {
    size_t before = 0, after = 0;
  };
  size_t requests = 0;
  size_t moved = 0;  // to another deployment
  std::map<std::string, Share> deployments;
  Share nowhere;  // requests without a backend
  std::map<std::string, size_t> rejected_because;  // reasons of those left without one by the draft
  size_t refused = 0;  // asked for more than the draft allows: it would answer `invalid`
  std::vector<std::string> left;  // at most kExamples sandboxes that would not exist any more
  // What the tenant is charged for the requests that ran and would run, where both are known in one
  // currency.
  size_t compared = 0;
  std::string currency = "USD";
  Decimal cost_before, cost_after;

  static constexpr size_t kExamples = 20;
};
Json to_json(const ReplayReport& report);

// Decides past requests again under a draft, with prices and health of their time. Deployments are
// those of now, their descriptors included; how full they were is not known. Pure.
class Replay {
 public:
  Replay(Profile draft, TenantId tenant, std::shared_ptr<const DeploymentSet> deployments,
         std::shared_ptr<const PriceSnapshot> prices, bool price_required);

  void add(const RecordedRequest& request);
  const ReplayReport& report() const { return report_; }

 private:
  Decision decide_again(const RecordedRequest& request, const EffectiveRequest& asked) const;
  void leave(const RecordedRequest& request, const Decision& decision);
  void compare_costs(const RecordedRequest& request, const Deployment& chosen,
                     const Resources& resources);

  const Profile draft_;
  const TenantId tenant_;
  const std::shared_ptr<const DeploymentSet> deployments_;
  const std::shared_ptr<const PriceSnapshot> prices_;
  const bool price_required_;
  ReplayReport report_;
};

}  // namespace sandgate
