#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "billing/prices/price_snapshot.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/placement/account.hpp"
#include "gateway/placement/deployment_key.hpp"
#include "providers/provider.hpp"

namespace sandgate {

// One configured backend as placement sees it: immutable, shared, replaced as a whole.
struct Deployment {
  std::string name;
  std::string provider;  // the backend's kind, the key of price books and image maps
  std::shared_ptr<Provider> backend;
  Descriptor descriptor;  // copy of the last `Deployments::refresh`
  bool enabled = true;
  bool stored = false;  // has a row in the store, which may be removed
  std::optional<TenantId> tenant;  // owner; empty: shared by all tenants
  int64_t weight = 100;  // for Strategy::weighted, unless the profile gives weights
  std::chrono::milliseconds attempt_deadline{10'000};
  std::shared_ptr<Account> account;  // shared limiter; null: unlimited
  AccountLimits account_limits;

  // What is priced and metered of a sandbox that asked for these.
  Resources granted(const Resources& asked) const {
    return backend ? backend->granted(asked) : asked;
  }
  DeploymentKey key() const { return {name, tenant}; }  // unique
  std::string region() const {
    return descriptor.regions.empty() ? std::string() : descriptor.regions.front();
  }
  // The regions in which a sandbox may be made that has to be in one of `allowed` (empty: in any):
  // the one that is asked for (see region_for), else all. Never empty; "" is an unknown one.
  std::vector<std::string> regions_within(const std::vector<std::string>& allowed) const;
};

using DeploymentPtr = std::shared_ptr<const Deployment>;
using DeploymentSet = std::vector<DeploymentPtr>;  // sorted by name

// The key under which the tenant's sandboxes in a region of the deployment are priced; "" for none
// in particular. Refers to its arguments.
inline PriceScope price_scope_of(const Deployment& one, std::string_view tenant,
                                 std::string_view region) {
  return {tenant, one.provider, one.name, region, one.tenant.has_value()};
}

// Throws Error(unsupported) with `refusal` as message when the backend lacks the verb, and
// Error(unavailable) when its capabilities are not known yet.
void check_can(const Descriptor& descriptor, Verb verb, const std::string& refusal);

// The tenant's own deployment of that name, else the shared one; null when there is none.
DeploymentPtr find_deployment(const DeploymentSet& set, const TenantId& tenant,
                              std::string_view name);
// The deployment with that key, for any tenant; null when there is none.
DeploymentPtr find_deployment(const DeploymentSet& set, const DeploymentKey& key);

}  // namespace sandgate
