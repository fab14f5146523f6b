#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/ids.hpp"
#include "gateway/placement/account.hpp"
#include "gateway/placement/deployment_key.hpp"
#include "providers/provider.hpp"

namespace sandgate {

// One configured backend as placement sees it: immutable, shared, replaced as a whole.
struct Deployment {
  std::string name;
  std::string provider;  // the backend's kind, as price books and image maps know it
  std::shared_ptr<Provider> backend;
  Descriptor descriptor;  // a copy, as of `Deployments::refresh`
  bool enabled = true;
  bool stored = false;  // it has a row, which may be removed
  std::optional<TenantId> tenant;  // owner of a tenant's own deployment; empty: everybody's
  int64_t weight = 100;  // of Strategy::weighted where the profile names none
  std::chrono::milliseconds attempt_deadline{10'000};
  std::shared_ptr<Account> account;  // whose limits it shares; null: nobody's
  AccountLimits account_limits;

  DeploymentKey key() const { return {name, tenant}; }  // different for any two
  std::string region() const {
    return descriptor.regions.empty() ? std::string() : descriptor.regions.front();
  }
};

using DeploymentPtr = std::shared_ptr<const Deployment>;
using DeploymentSet = std::vector<DeploymentPtr>;  // sorted by name

// Throws Error(unsupported), saying `refusal`, when the backend lacks the verb, and
// Error(unavailable) when it has not told yet what it has.
void check_can(const Descriptor& descriptor, Verb verb, const std::string& refusal);

// What a tenant means by a name: its own, else the operator's. Null when there is none.
DeploymentPtr find_deployment(const DeploymentSet& set, const TenantId& tenant,
                              std::string_view name);
// The one with that key, whoever asks; null when there is none.
DeploymentPtr find_deployment(const DeploymentSet& set, const DeploymentKey& key);

}  // namespace sandgate
