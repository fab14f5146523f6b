#include "gateway/placement/filter.hpp"

#include <algorithm>

#include "gateway/placement/place.hpp"

namespace sandgate {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Collects the reasons against one candidate. Each check adds those of one kind.
class CandidateCheck {
 public:
  CandidateCheck(const Requirements& requirements, Candidate& candidate)
      : required_(requirements),
        candidate_(candidate),
        deployment_(*candidate.deployment),
        offered_(candidate.deployment->descriptor) {}

  void run() {
    candidate_.rejected_because.clear();
    check_policy();
    if (!offered_.known) {
      candidate_.only_now = candidate_.rejected_because.empty();
      return reject("not_reached");
    }
    check_isolation_and_persistence();
    check_verbs();
    check_controls();
    check_workspace();
    check_sizes();
    check_place();
    check_price();
    candidate_.only_now = candidate_.rejected_because.empty();
    check_health();
    if (candidate_.rejected_because.empty()) candidate_.only_now = false;
  }

 private:
  void reject(std::string reason) { candidate_.rejected_because.push_back(std::move(reason)); }

  void check_policy() {
    const PlacementPolicy& policy = required_.placement;
    if (!deployment_.enabled) reject("disabled");
    if (deployment_.tenant && *deployment_.tenant != required_.tenant) reject("tenant_not_allowed");
    if (!policy.only.empty() && !contains(policy.only, deployment_.name)) reject("not_in_only");
    if (contains(policy.exclude, deployment_.name)) reject("excluded");
  }

  void check_isolation_and_persistence() {
    if (offered_.isolation < required_.isolation) reject("isolation_too_weak");
    // Stronger persistence satisfies a weaker requirement.
    if (offered_.persistence.empty() || *offered_.persistence.rbegin() < required_.persistence)
      reject("persistence_missing");
  }

  void check_verbs() {
    for (const auto& [verb, keeps] : required_.verbs) {
      const auto found = offered_.verbs.find(verb);
      if (found == offered_.verbs.end())
        reject("verb_missing:" + std::string(to_string(verb)));
      else if (found->second < keeps)
        reject("verb_loses_state:" + std::string(to_string(verb)));
    }
  }

  void check_controls() {
    for (const Control control : required_.controls) {
      if (enforces(control)) continue;
      switch (control) {
        case Control::network_deny:
        case Control::network_allow:
        case Control::network_rules:
          reject("network_not_enforceable:" + std::string(to_string(control)));
          break;
        case Control::secret_injection:
          reject("secrets_not_injectable");
          break;
        default:
          reject("control_missing:" + std::string(to_string(control)));
      }
    }
  }

  void check_workspace() {
    const std::string& path = required_.workspace;
    const auto shows = [&](const std::string& one) {
      return path == one || path.starts_with(one + "/");
    };
    if (path.empty() || !enforces(Control::host_workspace)) return;
    if (std::none_of(offered_.workspaces.begin(), offered_.workspaces.end(), shows))
      reject("workspace_not_shown");
  }

  bool enforces(Control control) const {
    if (offered_.controls.contains(control)) return true;
    // Rules can deny everything; a kernel of its own limits its own processes.
    if (control == Control::network_deny) return offered_.controls.contains(Control::network_rules);
    return control == Control::process_limit && offered_.isolation >= Isolation::microvm;
  }

  void check_sizes() {
    const DescriptorLimits& limits = offered_.limits;
    const Resources& asked = required_.resources;
    if (limits.max_milli_vcpu > 0 && asked.milli_vcpu > limits.max_milli_vcpu)
      reject("resources_above_limit:vcpu");
    if (limits.max_memory_mib > 0 && asked.memory_mib > limits.max_memory_mib)
      reject("resources_above_limit:memory_mib");
    if (limits.max_disk_gib > 0 && asked.disk_gib > limits.max_disk_gib)
      reject("resources_above_limit:disk_gib");
    if (limits.max_ttl_seconds > 0 && required_.ttl_seconds > limits.max_ttl_seconds)
      reject("ttl_above_limit");
    else if (limits.max_ttl_seconds > 0 &&
             required_.ttl_seconds > longest_ttl(offered_, required_.on_expiry))
      reject("ttl_above_limit:pause");
  }

  void check_place() {
    const auto& regions = required_.placement.regions;
    const bool allowed = std::any_of(offered_.regions.begin(), offered_.regions.end(),
                                     [&](const auto& region) { return contains(regions, region); });
    if (!regions.empty() && !allowed) reject("region_not_allowed");
    const std::string image = image_for(required_, deployment_.provider, offered_);
    if (image.empty())
      reject("image_not_mapped");
    else if (!offered_.images.empty() && !offered_.images.contains(image))
      reject("image_not_offered");
    if (required_.snapshot && deployment_.name != required_.snapshot_deployment)
      reject("snapshot_elsewhere");
  }

  void check_price() {
    const auto& max_cost = required_.placement.max_cost_per_hour;
    const bool known = candidate_.price_per_hour.has_value();
    const bool comparable = known && !candidate_.price_is_partial;
    if ((!known && candidate_.price_required) || (!comparable && max_cost)) reject("price_unknown");
    if (comparable && max_cost &&
        *candidate_.price_per_hour > Decimal::parse(*max_cost).value_or(Decimal()))
      reject("price_above_limit");
  }

  void check_health() {
    if (candidate_.health.breaker == Breaker::open) reject("breaker_open");
    if (candidate_.health.resting) reject("resting");
    if (candidate_.account_busy) reject("account_limit");
  }

  const Requirements& required_;
  Candidate& candidate_;
  const Deployment& deployment_;
  const Descriptor& offered_;
};

}  // namespace

void filter(const Requirements& requirements, std::vector<Candidate>& candidates) {
  for (Candidate& candidate : candidates) CandidateCheck(requirements, candidate).run();
}

}  // namespace sandgate
