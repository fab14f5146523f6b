#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace sandgate {

// Ordered: a stronger wall satisfies a weaker demand.
enum class Isolation { process, container, kernel, microvm };
enum class Persistence { ephemeral, persistent, checkpoint };

std::string_view to_string(Isolation isolation);
std::string_view to_string(Persistence persistence);
std::optional<Isolation> isolation_from(std::string_view text);
std::optional<Persistence> persistence_from(std::string_view text);

// What a backend can do beyond create, find, list and kill, which all can.
enum class Verb {
  exec,
  background,
  stdin_,
  signal,
  files,
  archive,
  watch,
  pty,
  ports,
  pause,
  snapshot,
  fork,
  metrics,
};

std::string_view to_string(Verb verb);
std::optional<Verb> verb_from(std::string_view text);

// The state that survives a verb (pause, snapshot, fork); everything else keeps `nothing`.
enum class Keeps { nothing, disk, memory };  // memory includes disk
std::string_view to_string(Keeps keeps);
std::optional<Keeps> keeps_from(std::string_view text);

// Controls that a profile may ask for and that a backend either enforces or is not eligible.
enum class Control {
  network_deny,  // no way out at all
  network_allow,  // unrestricted way out
  network_rules,  // host:port rules under a default of deny
  secret_injection,
  allow_root,
  allow_debug,
  host_workspace,
  cpu_limit,
  memory_limit,
  process_limit,
  disk_limit,
};

std::string_view to_string(Control control);

struct DescriptorLimits {
  int64_t max_milli_vcpu = 0, max_memory_mib = 0, max_disk_gib = 0;
  int64_t max_ttl_seconds = 0;  // 0: none
};

// Capabilities as data: placement, docs, GET /v1/providers and the contract suite all read this.
struct Descriptor {
  std::string provider;
  bool known = true;  // false: it has to be asked, and was not yet
  std::string machine;  // of a backend that each gateway has one of: which
  Isolation isolation = Isolation::container;
  std::set<Persistence> persistence{Persistence::ephemeral};
  std::map<Verb, Keeps> verbs;
  std::set<Control> controls;
  DescriptorLimits limits;
  std::vector<std::string> regions;
  std::set<std::string>
      images;  // neutral names it runs as they are; empty: every image must be mapped
  std::vector<std::string> notes;
  // With host_workspace: the directories of the host whose contents it shows. Told to nobody.
  std::vector<std::string> workspaces;
  bool counts_ends = false;  // finish() is there. Told to nobody

  bool can(Verb verb) const { return verbs.contains(verb); }
};

// As served by GET /v1/providers and GET /v1/descriptor; from_json throws Error(invalid).
nlohmann::json to_json(const Descriptor& descriptor);
Descriptor descriptor_from_json(const nlohmann::json& document);

}  // namespace sandgate
