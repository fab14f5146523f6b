#include "registry/effective_request.hpp"

#include <algorithm>

#include "gateway/core/decimal.hpp"
#include "gateway/core/network_rule.hpp"
#include "registry/document_fields.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxMetadata = 64, kMaxMetadataKey = 64, kMaxMetadataValue = 512;
constexpr std::string_view kBeyond = "goes beyond what the profile allows";
// What merge() reads beside the profile's name.
constexpr std::string_view kRestrictions[] = {"resources", "ttl_seconds", "idle_timeout_seconds",
                                              "isolation", "persistence", "image",
                                              "network",   "secrets",     "env",
                                              "placement", "metadata",    "snapshot"};

bool contains(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

void tighten_resources(ObjectReader& reader, Problems& problems, Profile& profile) {
  const auto asked = read_resource_fields(reader, problems);
  if (!asked) return;
  const Resources wanted = asked->over(profile.resources), max = max_resources(profile);
  const auto within = [&](int64_t value, int64_t limit, const char* name) {
    if (value > limit)
      problems.add(reader.path_of("resources") + "/" + name,
                   std::string(kBeyond) + " (" + std::to_string(limit) + ")");
  };
  if (wanted.milli_vcpu > max.milli_vcpu)
    problems.add(reader.path_of("resources") + "/vcpu",
                 std::string(kBeyond) + " (" + vcpu_json(max.milli_vcpu).dump() + ")");
  within(wanted.memory_mib, max.memory_mib, "memory_mib");
  within(wanted.disk_gib, max.disk_gib, "disk_gib");
  within(wanted.processes, max.processes, "processes");
  profile.resources = wanted;
}

void tighten_life(ObjectReader& reader, Profile& profile) {
  if (const auto ttl = reader.integer("ttl_seconds", 1, kMaxSeconds)) {
    const int64_t max = max_ttl(profile).count();
    if (*ttl > max)
      reader.problem("ttl_seconds", std::string(kBeyond) + " (" + std::to_string(max) + ")");
    profile.ttl_seconds = *ttl;
    profile.limits.max_ttl_seconds = max;  // for extend(): may be longer than the first TTL
  }
  if (const auto idle = reader.integer("idle_timeout_seconds", 0, kMaxSeconds)) {
    const int64_t max = profile.idle_timeout_seconds;
    if (max != 0 && (*idle == 0 || *idle > max))
      reader.problem("idle_timeout_seconds",
                     std::string(kBeyond) + " (" + std::to_string(max) + ")");
    profile.idle_timeout_seconds = *idle;
  }
}

void tighten_demands(ObjectReader& reader, Profile& profile) {
  if (const auto asked = reader.word("isolation", kIsolationWords)) {
    if (*asked < profile.isolation)
      reader.problem("isolation", "is weaker than the profile's minimum");
    profile.isolation = *asked;
  }
  if (const auto asked = reader.word("persistence", kPersistenceWords)) {
    if (*asked > profile.persistence) reader.problem("persistence", std::string(kBeyond));
    profile.persistence = *asked;
  }
  if (const auto image = read_image(reader); image && *image != profile.image)
    reader.problem("image", "is not the profile's image (" + profile.image + ")");
}

void tighten_network(ObjectReader& reader, Problems& problems, NetworkPolicy& network) {
  const auto asked = read_network_fields(reader, problems);
  if (!asked) return;
  const bool open = network.fallback == NetworkDefault::allow;
  const std::string path = reader.path_of("network");
  if (asked->fallback == NetworkDefault::allow) {
    if (!open) problems.add(path + "/default", std::string(kBeyond));
    if (asked->allow && !asked->allow->empty())
      problems.add(path + "/allow", "has no meaning while default is allow");
    return;
  }
  const auto covered = [&](const std::string& rule) {
    return open || std::any_of(network.allow.begin(), network.allow.end(), [&](const auto& wide) {
             return covers(*network_rule_from(wide), *network_rule_from(rule));
           });
  };
  for (size_t i = 0; asked->allow && i < asked->allow->size(); ++i)
    if (!covered((*asked->allow)[i]))
      problems.add(path + "/allow/" + std::to_string(i), std::string(kBeyond));
  if (asked->allow) network.allow = *asked->allow;
  // "deny" or any rules replace an open policy; an empty object changes nothing.
  if (asked->fallback || asked->allow) network.fallback = NetworkDefault::deny;
}

void tighten_secrets(ObjectReader& reader, Problems& problems, Profile& profile) {
  const auto names = reader.texts("secrets", 64, {.min = 1, .max = 128});
  if (!names) return;
  std::vector<SecretBinding> chosen;
  for (size_t i = 0; i < names->size(); ++i) {
    const auto found = std::find_if(profile.secrets.begin(), profile.secrets.end(),
                                    [&](const auto& own) { return own.name == (*names)[i]; });
    const bool again = std::any_of(chosen.begin(), chosen.end(),
                                   [&](const auto& own) { return own.name == (*names)[i]; });
    if (found == profile.secrets.end())
      problems.add(reader.path_of("secrets") + "/" + std::to_string(i),
                   "is not a secret of the profile");
    else if (!again)
      chosen.push_back(*found);
  }
  profile.secrets = std::move(chosen);
}

void tighten_env(ObjectReader& reader, Problems& problems, Profile& profile) {
  const auto env = read_env(reader, problems);
  if (!env) return;
  for (const auto& [name, value] : *env) {
    if (std::any_of(profile.secrets.begin(), profile.secrets.end(),
                    [&, &wanted = name](const auto& own) { return own.name == wanted; }))
      problems.add(reader.path_of("env") + "/" + pointer_token(name),
                   "holds a secret's placeholder");
    profile.env[name] = value;
  }
}

// Replaces a list by the requested one, whose items must be in it unless it is empty. True: done.
bool narrow(ObjectReader& reader, std::string_view name, std::vector<std::string>& list) {
  const auto asked = read_names(reader, name);
  if (!asked || asked->empty()) return false;
  for (size_t i = 0; i < asked->size(); ++i)
    if (!list.empty() && !contains(list, (*asked)[i]))
      reader.item_problem(name, i, "'" + (*asked)[i] + "' " + std::string(kBeyond));
  list = *asked;
  return true;
}

void tighten_placement(ObjectReader& parent, Problems& problems, PlacementPolicy& placement) {
  const Json* object = parent.object("placement");
  if (!object) return;
  ObjectReader reader(*object, problems, parent.path_of("placement"));
  narrow(reader, "only", placement.only);
  // Who may choose one deployment by `only` may also say which to try first.
  if (narrow(reader, "order", placement.order)) placement.strategy = Strategy::priority;
  for (auto& item : read_names(reader, "exclude").value_or(std::vector<std::string>{}))
    if (!contains(placement.exclude, item)) placement.exclude.push_back(std::move(item));
  if (const auto region = reader.text("region", {.min = 1, .max = 63})) {
    if (!is_name(*region))
      reader.problem("region", "is not a region's name");
    else if (!placement.regions.empty() && !contains(placement.regions, *region))
      reader.problem("region", std::string(kBeyond));
    placement.regions = {*region};
  }
  if (const auto price = read_price(reader, "max_cost_per_hour")) {
    const auto& max_cost = placement.max_cost_per_hour;
    if (max_cost && Decimal::parse(*price) > Decimal::parse(*max_cost))
      reader.problem("max_cost_per_hour", std::string(kBeyond) + " (" + *max_cost + ")");
    placement.max_cost_per_hour = *price;
  }
  reader.finish();
}

std::map<std::string, std::string> read_metadata(ObjectReader& reader, Problems& problems) {
  const auto metadata = reader.text_map("metadata", kMaxMetadata, {.max = kMaxMetadataValue});
  if (!metadata) return {};
  for (const auto& [key, value] : *metadata)
    if (key.empty() || key.size() > kMaxMetadataKey)
      problems.add(reader.path_of("metadata") + "/" + pointer_token(key),
                   "its key must have 1 to 64 bytes");
  return *metadata;
}

}  // namespace

EffectiveRequest merge(const Profile& profile, const Json& body) {
  Problems problems;
  ObjectReader reader(body, problems);
  if (!body.is_object()) problems.throw_if_any();
  EffectiveRequest request{.profile = profile};
  reader.text("profile");
  tighten_resources(reader, problems, request.profile);
  tighten_life(reader, request.profile);
  tighten_demands(reader, request.profile);
  tighten_network(reader, problems, request.profile.network);
  tighten_secrets(reader, problems, request.profile);
  tighten_env(reader, problems, request.profile);
  tighten_placement(reader, problems, request.profile.placement);
  request.metadata = read_metadata(reader, problems);
  if (const auto snapshot = reader.text("snapshot")) {
    request.snapshot = SnapshotId::parse(*snapshot);
    if (!request.snapshot) reader.problem("snapshot", "is not a snapshot's id");
  }
  reader.finish();
  problems.throw_if_any();
  return request;
}

std::string profile_reference(const Json& body) {
  Problems problems;
  ObjectReader reader(body, problems);
  if (body.is_object()) reader.require("profile");
  const auto reference = reader.text("profile", {.min = 1, .max = 256});
  if (!reference) {
    // The field itself may be misspelt.
    for (const std::string_view name : kRestrictions) reader.any(name);
    reader.finish();
  }
  problems.throw_if_any();
  return *reference;
}

}  // namespace sandgate
