#include "gateway/placement/deployment.hpp"

#include <algorithm>

namespace sandgate {

bool share_account(const DeploymentPtr& a, const DeploymentPtr& b) {
  return a && b && a->account && a->account == b->account;
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

}  // namespace sandgate
