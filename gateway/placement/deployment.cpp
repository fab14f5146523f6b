#include "gateway/placement/deployment.hpp"

#include <algorithm>

namespace sandgate {

std::vector<std::string> Deployment::regions_within(const std::vector<std::string>& allowed) const {
  const auto& offered = descriptor.regions;
  for (const std::string& region : allowed)
    if (std::ranges::find(offered, region) != offered.end()) return {region};
  return offered.empty() ? std::vector<std::string>{""} : offered;
}

void check_can(const Descriptor& descriptor, Verb verb, const std::string& refusal) {
  if (!descriptor.known)
    throw Error(ErrorCode::unavailable, "the sandbox's backend was not reached yet");
  if (!descriptor.can(verb)) throw Error(ErrorCode::unsupported, refusal);
}

DeploymentPtr find_deployment(const DeploymentSet& set, const TenantId& tenant,
                              std::string_view name) {
  DeploymentPtr shared;
  auto at = std::lower_bound(
      set.begin(), set.end(), name,
      [](const DeploymentPtr& one, std::string_view wanted) { return one->name < wanted; });
  for (; at != set.end() && (*at)->name == name; ++at) {
    if ((*at)->tenant == tenant) return *at;
    if (!(*at)->tenant) shared = *at;
  }
  return shared;
}

DeploymentPtr find_deployment(const DeploymentSet& set, const DeploymentKey& key) {
  const auto found = std::find_if(set.begin(), set.end(),
                                  [&](const DeploymentPtr& one) { return one->key() == key; });
  return found == set.end() ? nullptr : *found;
}

}  // namespace sandgate
