#include "gateway/placement/requirements.hpp"

#include <algorithm>

namespace sandgate {
namespace {

// A pause has to keep the state that the workload relies on.
Keeps kept_over_pause(Persistence persistence) {
  return persistence == Persistence::checkpoint ? Keeps::memory : Keeps::disk;
}

std::map<Verb, Keeps> verbs_of(const Profile& profile) {
  std::map<Verb, Keeps> verbs;
  for (const Verb verb : profile.requires_verbs) {
    const bool keeps = verb == Verb::pause || verb == Verb::snapshot || verb == Verb::fork;
    verbs[verb] = keeps ? kept_over_pause(profile.persistence) : Keeps::nothing;
  }
  const bool pauses = profile.on_expiry == EndAction::pause || profile.on_idle == EndAction::pause;
  if (pauses || profile.auto_resume) verbs[Verb::pause] = kept_over_pause(profile.persistence);
  return verbs;
}

Control network_control(const NetworkPolicy& network) {
  if (network.fallback == NetworkDefault::allow) return Control::network_allow;
  return network.allow.empty() ? Control::network_deny : Control::network_rules;
}

std::set<Control> controls_of(const Profile& profile) {
  std::set<Control> controls{Control::cpu_limit, Control::memory_limit, Control::process_limit,
                             Control::disk_limit, network_control(profile.network)};
  if (!profile.secrets.empty()) controls.insert(Control::secret_injection);
  if (profile.allow_root) controls.insert(Control::allow_root);
  if (profile.allow_debug) controls.insert(Control::allow_debug);
  if (profile.workspace != Workspace::isolated) controls.insert(Control::host_workspace);
  return controls;
}

}  // namespace

Requirements requirements_of(const EffectiveRequest& request, const TenantId& tenant) {
  const Profile& profile = request.profile;
  return {.tenant = tenant,
          .isolation = profile.isolation,
          .persistence = profile.persistence,
          .verbs = verbs_of(profile),
          .controls = controls_of(profile),
          .workspace = profile.workspace_path,
          .resources = profile.resources,
          .ttl_seconds = profile.ttl_seconds,
          .on_expiry = profile.on_expiry,
          .image = profile.image,
          .images = profile.images,
          .snapshot = request.snapshot.has_value(),
          .snapshot_deployment = request.snapshot_deployment,
          .placement = profile.placement};
}

Json to_json(const Requirements& requirements) {
  Json verbs = Json::object();
  for (const auto& [verb, keeps] : requirements.verbs)
    verbs[std::string(to_string(verb))] = to_string(keeps);
  Json controls = Json::array();
  for (const Control control : requirements.controls) controls.push_back(to_string(control));
  const PlacementPolicy& placement = requirements.placement;
  Json cost;
  if (placement.max_cost_per_hour) cost = *placement.max_cost_per_hour;
  Json snapshot;
  if (requirements.snapshot) snapshot = requirements.snapshot_deployment;
  return {{"isolation", to_string(requirements.isolation)},
          {"persistence", to_string(requirements.persistence)},
          {"verbs", std::move(verbs)},
          {"controls", std::move(controls)},
          {"resources", to_json(requirements.resources)},
          {"ttl_seconds", requirements.ttl_seconds},
          {"image", requirements.image},
          {"snapshot_deployment", std::move(snapshot)},
          {"strategy", to_string(placement.strategy)},
          {"only", placement.only},
          {"exclude", placement.exclude},
          {"regions", placement.regions},
          {"max_cost_per_hour", std::move(cost)}};
}

std::string image_for(const Requirements& requirements, const std::string& provider,
                      const Descriptor& descriptor) {
  const auto mapped = requirements.images.find(provider);
  if (mapped != requirements.images.end()) return mapped->second;
  return descriptor.images.contains(requirements.image) ? requirements.image : std::string();
}

std::string region_for(const Requirements& requirements, const Descriptor& descriptor) {
  for (const std::string& region : requirements.placement.regions)
    if (std::ranges::find(descriptor.regions, region) != descriptor.regions.end()) return region;
  return "";
}

}  // namespace sandgate
