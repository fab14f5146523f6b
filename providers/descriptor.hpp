#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "gateway/core/words.hpp"

namespace sandgate {

// Ordered by strength: a requirement is satisfied by any isolation at least as strong.
enum class Isolation { process, container, kernel, microvm };
enum class Persistence { ephemeral, persistent, checkpoint };

inline constexpr Words kIsolationWords({Word{Isolation::process, "process"},
                                        Word{Isolation::container, "container"},
                                        Word{Isolation::kernel, "kernel"},
                                        Word{Isolation::microvm, "microvm"}});
inline constexpr Words kPersistenceWords({Word{Persistence::ephemeral, "ephemeral"},
                                          Word{Persistence::persistent, "persistent"},
                                          Word{Persistence::checkpoint, "checkpoint"}});
std::string_view to_string(Isolation isolation);
std::string_view to_string(Persistence persistence);
std::optional<Isolation> isolation_from(std::string_view text);
std::optional<Persistence> persistence_from(std::string_view text);

// What a backend can do beyond create, find, list and kill, which every backend has.
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

// The state that pause, snapshot or fork preserves; `nothing` for all other verbs.
enum class Keeps { nothing, disk, memory };  // memory includes disk
std::string_view to_string(Keeps keeps);
std::optional<Keeps> keeps_from(std::string_view text);

// Controls that a profile may require. A backend that does not enforce one is not eligible.
enum class Control {
  network_deny,  // no outbound traffic
  network_allow,  // unrestricted outbound traffic
  network_rules,  // host:port rules, all else denied
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
  int64_t max_ttl_seconds = 0;  // 0: no limit
};

// The capabilities of a backend as data, read by placement, the documentation, GET /v1/providers
// and the contract tests.
struct Descriptor {
  std::string provider;
  bool known = true;  // false: not yet fetched from the backend
  // The machine of a backend that runs per gateway; empty: shared by all gateways.
  std::string machine;
  Isolation isolation = Isolation::container;
  std::set<Persistence> persistence{Persistence::ephemeral};
  std::map<Verb, Keeps> verbs;
  std::set<Control> controls;
  DescriptorLimits limits;
  std::vector<std::string> regions;
  // All images that it can run; a profile's neutral name among them needs no mapping. Empty: it may
  // run any, and every neutral name must be mapped.
  std::set<std::string> images;
  std::vector<std::string> notes;
  // For host_workspace: host directories that may be mounted. Not part of to_json().
  std::vector<std::string> workspaces;
  // A sandbox ends by itself this long after its creation, whatever extend() asks for; 0: extend()
  // moves its end. Not part of to_json().
  std::chrono::seconds fixed_lifetime{0};
  // The shortest time to leave between two calls of list(), because the vendor limits requests; 0:
  // no such limit. Not part of to_json().
  std::chrono::seconds min_list_interval{0};
  // The memory that a pause preserves is billed. Not part of to_json().
  bool bills_paused_memory = true;
  // Provider::finish() is implemented. Not part of to_json().
  bool reports_final_usage = false;
  // Provider::find() also returns sandboxes that ended by a rule of the backend, with
  // BackendSandbox::ended. Not part of to_json().
  bool tells_ends = false;
  // A start of a program may be repeated although its outcome is unknown: exec() heeds
  // Command::once, or process() knows the program by Command::process_id. Not part of to_json().
  bool repeats_starts = false;

  bool can(Verb verb) const { return verbs.contains(verb); }
};

// The document of GET /v1/providers and GET /v1/descriptor. from_json throws Error(invalid).
nlohmann::json to_json(const Descriptor& descriptor);
Descriptor descriptor_from_json(const nlohmann::json& document);

}  // namespace sandgate
