#include "registry/profile.hpp"

#include "gateway/core/crypto.hpp"

namespace sandgate {
namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json to_json(const ProfileLimits& limits) {
  return {{"max_vcpu", limits.max_milli_vcpu ? vcpu_json(*limits.max_milli_vcpu) : Json()},
          {"max_memory_mib", or_null(limits.max_memory_mib)},
          {"max_disk_gib", or_null(limits.max_disk_gib)},
          {"max_processes", or_null(limits.max_processes)},
          {"max_ttl_seconds", or_null(limits.max_ttl_seconds)}};
}

Json to_json(const std::vector<SecretBinding>& secrets) {
  Json list = Json::array();
  for (const auto& secret : secrets)
    list.push_back({{"name", secret.name}, {"host", secret.host}, {"header", secret.header}});
  return list;
}

Json to_json(const PlacementPolicy& placement) {
  const Fallback& fallback = placement.fallback;
  return {{"strategy", to_string(placement.strategy)},
          {"order", placement.order},
          {"weights", placement.weights},
          {"only", placement.only},
          {"exclude", placement.exclude},
          {"regions", placement.regions},
          {"max_cost_per_hour", or_null(placement.max_cost_per_hour)},
          {"fallback",
           {{"attempts", fallback.attempts},
            {"deadline_ms", fallback.deadline_ms},
            {"hedge_after_ms", fallback.hedge_after_ms}}}};
}

Json to_json(const std::set<Verb>& verbs) {
  Json list = Json::array();
  for (const Verb verb : verbs) list.push_back(to_string(verb));
  return list;
}

}  // namespace

std::string_view to_string(EndAction action) { return kEndActionWords.of(action); }
std::string_view to_string(Workspace workspace) { return kWorkspaceWords.of(workspace); }
std::string_view to_string(Scope scope) { return kScopeWords.of(scope); }
std::string_view to_string(Strategy strategy) { return kStrategyWords.of(strategy); }

Resources max_resources(const Profile& profile) {
  const auto& [own, limits] = std::tie(profile.resources, profile.limits);
  return {.milli_vcpu = limits.max_milli_vcpu.value_or(own.milli_vcpu),
          .memory_mib = limits.max_memory_mib.value_or(own.memory_mib),
          .disk_gib = limits.max_disk_gib.value_or(own.disk_gib),
          .processes = limits.max_processes.value_or(own.processes)};
}

std::chrono::seconds max_ttl(const Profile& profile) {
  return std::chrono::seconds(profile.limits.max_ttl_seconds.value_or(profile.ttl_seconds));
}

Json vcpu_json(int64_t milli_vcpu) {
  if (milli_vcpu % 1000 == 0) return milli_vcpu / 1000;
  return static_cast<double>(milli_vcpu) / 1000;
}

Json to_json(const Resources& resources) {
  return {{"vcpu", vcpu_json(resources.milli_vcpu)},
          {"memory_mib", resources.memory_mib},
          {"disk_gib", resources.disk_gib},
          {"processes", resources.processes}};
}

Json to_json(const NetworkPolicy& network) {
  return {{"default", kNetworkDefaultWords.of(network.fallback)}, {"allow", network.allow}};
}

Json to_json(const Profile& profile) {
  return {
      {"name", profile.name},
      {"description", profile.description},
      {"isolation", to_string(profile.isolation)},
      {"persistence", to_string(profile.persistence)},
      {"image", profile.image},
      {"images", profile.images},
      {"resources", to_json(profile.resources)},
      {"limits", to_json(profile.limits)},
      {"ttl_seconds", profile.ttl_seconds},
      {"on_expiry", to_string(profile.on_expiry)},
      {"idle_timeout_seconds", profile.idle_timeout_seconds},
      {"on_idle", to_string(profile.on_idle)},
      {"auto_resume", profile.auto_resume},
      {"env", profile.env},
      {"workspace", to_string(profile.workspace)},
      {"workspace_path", profile.workspace_path.empty() ? Json() : Json(profile.workspace_path)},
      {"scope", to_string(profile.scope)},
      {"allow_root", profile.allow_root},
      {"allow_debug", profile.allow_debug},
      {"network", to_json(profile.network)},
      {"secrets", to_json(profile.secrets)},
      {"requires", to_json(profile.requires_verbs)},
      {"placement", to_json(profile.placement)}};
}

std::string content_hash(const Profile& profile) { return sha256_hex(to_json(profile).dump()); }

}  // namespace sandgate
