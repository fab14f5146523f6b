#pragma once
#include <map>
#include <string>
#include <vector>

#include "gateway/core/ids.hpp"

namespace sandgate {

// The failures of one round of work on sandboxes, which limit how many more are tried. A row that
// somebody has locked costs a few seconds, and the rows of one tenant may all wait for the same
// lock, as that of a budget.
struct FailureLimiter {
  static constexpr int kMaxOfTenant = 2, kMaxFailures = 8;

  std::map<std::string, int> of_tenant;
  std::vector<std::string> stuck;  // tenants with kMaxOfTenant
  int all = 0;

  bool is_exhausted() const { return all == kMaxFailures; }
  // Whether nothing more of the tenant is to be tried in this round.
  bool is_blocked(const TenantId& tenant) const {
    const auto failed = of_tenant.find(tenant.value);
    return is_exhausted() || (failed != of_tenant.end() && failed->second == kMaxOfTenant);
  }
  void add(const TenantId& tenant) {
    ++all;
    if (++of_tenant[tenant.value] == kMaxOfTenant) stuck.push_back(tenant.value);
  }
};

}  // namespace sandgate
