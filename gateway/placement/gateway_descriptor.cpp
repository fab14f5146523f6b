#include "gateway/placement/gateway_descriptor.hpp"

#include <algorithm>

namespace sandgate {
namespace {

template <class T>
std::set<T> common(const std::set<T>& a, const std::set<T>& b) {
  std::set<T> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}

// The smaller of two limits of which 0 means none.
int64_t tighter(int64_t a, int64_t b) { return a == 0 ? b : b == 0 ? a : std::min(a, b); }

void narrow(Descriptor& all, const Descriptor& one) {
  all.isolation = std::min(all.isolation, one.isolation);
  all.persistence = common(all.persistence, one.persistence);
  all.controls = common(all.controls, one.controls);
  std::erase_if(all.verbs, [&](const auto& verb) { return !one.can(verb.first); });
  for (auto& [verb, keeps] : all.verbs) keeps = std::min(keeps, one.verbs.at(verb));
  DescriptorLimits& limits = all.limits;
  limits.max_milli_vcpu = tighter(limits.max_milli_vcpu, one.limits.max_milli_vcpu);
  limits.max_memory_mib = tighter(limits.max_memory_mib, one.limits.max_memory_mib);
  limits.max_disk_gib = tighter(limits.max_disk_gib, one.limits.max_disk_gib);
  limits.max_ttl_seconds = tighter(limits.max_ttl_seconds, one.limits.max_ttl_seconds);
  for (const std::string& region : one.regions)
    if (std::find(all.regions.begin(), all.regions.end(), region) == all.regions.end())
      all.regions.push_back(region);
}

void restrict_to(Descriptor& all, const Profile& profile) {
  const Resources max = max_resources(profile);
  all.limits.max_milli_vcpu = tighter(all.limits.max_milli_vcpu, max.milli_vcpu);
  all.limits.max_memory_mib = tighter(all.limits.max_memory_mib, max.memory_mib);
  all.limits.max_disk_gib = tighter(all.limits.max_disk_gib, max.disk_gib);
  all.limits.max_ttl_seconds = tighter(all.limits.max_ttl_seconds, max_ttl(profile).count());
  if (!profile.allow_root) all.controls.erase(Control::allow_root);
  if (!profile.allow_debug) all.controls.erase(Control::allow_debug);
  all.controls.erase(Control::host_workspace);
  if (profile.network.fallback == NetworkDefault::deny) {
    all.controls.erase(Control::network_allow);
    if (profile.network.allow.empty()) all.controls.erase(Control::network_rules);
  }
  all.images = {profile.image};
  const auto& regions = profile.placement.regions;
  if (!regions.empty())
    std::erase_if(all.regions, [&](const std::string& region) {
      return std::find(regions.begin(), regions.end(), region) == regions.end();
    });
}

}  // namespace

Descriptor gateway_descriptor(const Profile& profile, const std::vector<Descriptor>& deployments) {
  Descriptor all = deployments.front();
  all.provider = "sandgate";
  all.notes.clear();
  for (const Descriptor& one : deployments) narrow(all, one);
  restrict_to(all, profile);
  return all;
}

}  // namespace sandgate
