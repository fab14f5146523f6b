#include "registry/profile_parse.hpp"

#include <algorithm>
#include <map>

#include "gateway/core/bounded_json.hpp"
#include "gateway/core/network_rule.hpp"
#include "registry/document_fields.hpp"
#include "registry/placement_parse.hpp"
#include "registry/yaml.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxImages = 64, kMaxSecrets = 64, kMaxVerbs = 64;
// What a host answers is searched for the values of all its secrets.
constexpr int kMaxSecretsOfHost = 8;

void read_name(ObjectReader& reader, std::string_view expected, Profile& profile) {
  if (expected.empty()) reader.require("name");
  const auto name = reader.text("name");
  profile.name = name.value_or(std::string(expected));
  if (name && !is_name(*name))
    reader.problem("name", "must match [a-z0-9][a-z0-9._-]{0,62}");
  else if (name && !expected.empty() && *name != expected)
    reader.problem("name", "must be '" + std::string(expected) + "', as in the address");
}

void read_images(ObjectReader& reader, Problems& problems, Profile& profile) {
  if (const auto image = read_image(reader)) profile.image = *image;
  profile.images = reader.text_map("images", kMaxImages, {.min = 1, .max = 512})
                       .value_or(std::map<std::string, std::string>{});
  for (const auto& [provider, image] : profile.images) {
    const std::string path = reader.path_of("images") + "/" + pointer_token(provider);
    if (!is_name(provider)) problems.add(path, "is not a provider's name");
    if (!is_image(image)) problems.add(path, "must be printable without spaces");
  }
}

void read_demands(ObjectReader& reader, Problems& problems, Profile& profile) {
  profile.isolation = reader.word("isolation", kIsolationWords).value_or(profile.isolation);
  profile.persistence = reader.word("persistence", kPersistenceWords).value_or(profile.persistence);
  const auto words = reader.texts("requires", kMaxVerbs);
  for (size_t i = 0; words && i < words->size(); ++i) {
    if (const auto verb = verb_from((*words)[i]))
      profile.requires_verbs.insert(*verb);
    else
      problems.add(reader.path_of("requires") + "/" + std::to_string(i), "is not a known verb");
  }
}

void read_life(ObjectReader& reader, Profile& profile) {
  if (const auto ttl = reader.integer("ttl_seconds", 1, kMaxSeconds)) profile.ttl_seconds = *ttl;
  profile.on_expiry = reader.word("on_expiry", kEndActionWords).value_or(profile.on_expiry);
  if (const auto idle = reader.integer("idle_timeout_seconds", 0, kMaxSeconds))
    profile.idle_timeout_seconds = *idle;
  profile.on_idle = reader.word("on_idle", kEndActionWords).value_or(profile.on_idle);
  profile.auto_resume = reader.boolean("auto_resume").value_or(profile.auto_resume);
}

void read_limits(ObjectReader& parent, Problems& problems, Profile& profile) {
  const Json* object = parent.object("limits");
  if (!object) return;
  ObjectReader reader(*object, problems, parent.path_of("limits"));
  ProfileLimits& limits = profile.limits;
  limits.max_milli_vcpu = reader.quarter_steps("max_vcpu", 250, kMaxMilliVcpu);
  limits.max_memory_mib = reader.integer("max_memory_mib", kMinMemoryMib, kMaxMemoryMib);
  limits.max_disk_gib = reader.integer("max_disk_gib", 1, kMaxDiskGib);
  limits.max_processes = reader.integer("max_processes", 1, kMaxProcesses);
  limits.max_ttl_seconds = reader.integer("max_ttl_seconds", 1, kMaxSeconds);
  reader.finish();
}

void check_limits(const Profile& profile, Problems& problems) {
  const auto within = [&](int64_t value, std::optional<int64_t> limit, std::string path) {
    if (limit && value > *limit) problems.add(std::move(path), "is above the profile's own limit");
  };
  const auto& [resources, limits] = std::tie(profile.resources, profile.limits);
  within(resources.milli_vcpu, limits.max_milli_vcpu, "/resources/vcpu");
  within(resources.memory_mib, limits.max_memory_mib, "/resources/memory_mib");
  within(resources.disk_gib, limits.max_disk_gib, "/resources/disk_gib");
  within(resources.processes, limits.max_processes, "/resources/processes");
  within(profile.ttl_seconds, limits.max_ttl_seconds, "/ttl_seconds");
}

bool is_host_path(const std::string& path) {
  if (!path.starts_with('/') || path.size() == 1) return false;
  // No part between slashes may be empty, "." or "..", so that each place has one path.
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at + 1), path.size());
    const std::string_view part = std::string_view(path).substr(at + 1, end - at - 1);
    if (part.empty() || part == "." || part == "..") return false;
    at = end;
  }
  return true;
}

void read_workspace(ObjectReader& reader, Profile& profile) {
  profile.workspace = reader.word("workspace", kWorkspaceWords).value_or(profile.workspace);
  profile.workspace_path = reader.text("workspace_path", {.max = 4096}).value_or("");
  const bool isolated = profile.workspace == Workspace::isolated;
  if (isolated && reader.has("workspace_path"))
    reader.problem("workspace_path", "has no meaning while workspace is isolated");
  if (!isolated && !is_host_path(profile.workspace_path))
    reader.problem("workspace_path", "must be an absolute, plain path on the host");
}

void read_access(ObjectReader& reader, Profile& profile) {
  profile.scope = reader.word("scope", kScopeWords).value_or(profile.scope);
  profile.allow_root = reader.boolean("allow_root").value_or(false);
  profile.allow_debug = reader.boolean("allow_debug").value_or(false);
}

void read_secret(const Json& item, Problems& problems, const std::string& path, Profile& profile) {
  ObjectReader reader(item, problems, path);
  SecretBinding secret;
  for (const auto* name : {"name", "host", "header"}) reader.require(name);
  secret.name = reader.text("name", {.min = 1}).value_or("");
  if (!secret.name.empty() && !is_env_name(secret.name))
    reader.problem("name", "must match [A-Za-z_][A-Za-z0-9_]{0,127}");
  if (const auto text = reader.text("host")) {
    const auto host = host_name_from(*text);
    if (!host) reader.problem("host", "must be a host's name without wildcard or port");
    secret.host = host.value_or("");
  }
  secret.header = reader.text("header", {.min = 1, .max = 128}).value_or("");
  if (!secret.header.empty() && !is_header_name(secret.header))
    reader.problem("header", "must be the name of a header that may carry a secret");
  reader.finish();
  for (const auto& other : profile.secrets)
    if (!secret.name.empty() && other.name == secret.name)
      reader.problem("name", "appears twice: a secret goes to one host and header");
  if (profile.env.contains(secret.name)) reader.problem("name", "is also set by env");
  profile.secrets.push_back(std::move(secret));
}

void read_secrets(ObjectReader& parent, Problems& problems, Profile& profile) {
  const Json* list = parent.array("secrets", kMaxSecrets);
  if (!list) return;
  for (size_t i = 0; i < list->size(); ++i)
    read_secret((*list)[i], problems, parent.path_of("secrets") + "/" + std::to_string(i), profile);
}

void read_network(ObjectReader& parent, Problems& problems, Profile& profile) {
  const auto network = read_network_fields(parent, problems);
  if (!network) return;
  profile.network.fallback = network->fallback.value_or(NetworkDefault::deny);
  profile.network.allow = network->allow.value_or(std::vector<std::string>{});
  if (profile.network.fallback == NetworkDefault::allow && !profile.network.allow.empty())
    problems.add("/network/allow", "has no meaning while default is allow");
}

void check_size(std::string_view text) {
  if (text.size() > kMaxProfileBytes)
    throw Error(ErrorCode::too_large, "a profile document has at most 256 KiB");
}

}  // namespace

Profile parse_profile(const Json& document, std::string_view expected_name) {
  Problems problems;
  ObjectReader reader(document, problems);
  if (!document.is_object()) problems.throw_if_any();
  Profile profile;
  read_name(reader, expected_name, profile);
  profile.description = reader.text("description", {.max = 2048}).value_or("");
  read_images(reader, problems, profile);
  read_demands(reader, problems, profile);
  if (const auto resources = read_resource_fields(reader, problems))
    profile.resources = resources->over(profile.resources);
  read_limits(reader, problems, profile);
  read_life(reader, profile);
  check_limits(profile, problems);
  profile.env = read_env(reader, problems).value_or(std::map<std::string, std::string>{});
  read_workspace(reader, profile);
  read_access(reader, profile);
  read_network(reader, problems, profile);
  read_secrets(reader, problems, profile);
  if (const Json* placement = reader.object("placement"))
    profile.placement = parse_placement(*placement, problems, reader.path_of("placement"));
  reader.finish();
  problems.throw_if_any();
  return profile;
}

namespace {

// Versions that are stored may be older than this limit.
Profile with_few_secrets(Profile profile) {
  Problems problems;
  std::map<std::string, int> of_host;
  for (size_t i = 0; i < profile.secrets.size(); ++i)
    if (++of_host[profile.secrets[i].host] > kMaxSecretsOfHost)
      problems.add("/secrets/" + std::to_string(i) + "/host",
                   "may have 8 secrets, and this is one more");
  problems.throw_if_any();
  return profile;
}

}  // namespace

Profile parse_profile_json(std::string_view text, std::string_view expected_name) {
  check_size(text);
  return with_few_secrets(parse_profile(parse_bounded_json(text), expected_name));
}

Profile parse_profile_yaml(std::string_view text, std::string_view expected_name) {
  check_size(text);
  return with_few_secrets(parse_profile(yaml_to_json(text, kValuesOfARequest), expected_name));
}

}  // namespace sandgate
