#pragma once
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "billing/prices/price_snapshot.hpp"
#include "gateway/placement/decision.hpp"

namespace sandgate {

// A past create: the request, the health known at the time, and the outcome.
struct RecordedRequest {
  std::string sandbox;  // its id, the seed of weighted draws
  Time at;
  Json overrides = Json::object();  // its body's overrides
  bool restore = false;  // of a snapshot on `snapshot_deployment`
  std::string snapshot_deployment;
  std::map<std::string, Health, std::less<>> health;  // by candidate deployment, at the time
  std::string deployment, provider, region;  // where it ran; empty: nowhere
  Resources resources;
  std::chrono::microseconds ran{0};
};

// The candidates' health in a decision as GET …/decision shows it.
std::map<std::string, Health, std::less<>> recorded_health(const Json& decision);

// What a draft profile would have changed.
struct ReplayReport {
  struct Share {
    size_t before = 0, after = 0;
  };
  size_t requests = 0;
  size_t moved = 0;  // to another deployment
  std::map<std::string, Share> deployments;
  Share nowhere;  // requests without a backend
  std::map<std::string, size_t> rejected_because;  // of those that the draft leaves without one
  size_t refused = 0;  // the draft would answer `invalid`
  std::vector<std::string> left;  // at most kExamples sandboxes refused or left without a backend
  // Charges of the requests that ran and would run, where both are known in one currency.
  size_t compared = 0;
  std::string currency = "USD";
  Decimal cost_before, cost_after;

  static constexpr size_t kExamples = 20;
};
Json to_json(const ReplayReport& report);

// Decides past requests again under a draft profile, with prices and health of their time, and
// today's deployments and descriptors. Account limits of the time are not known. Pure.
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
                     const Profile& profile);

  const Profile draft_;
  const TenantId tenant_;
  const std::shared_ptr<const DeploymentSet> deployments_;
  const std::shared_ptr<const PriceSnapshot> prices_;
  const bool price_required_;
  ReplayReport report_;
};

}  // namespace sandgate
