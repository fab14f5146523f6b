#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/core/json_reader.hpp"
#include "providers/descriptor.hpp"
#include "providers/sandbox.hpp"

namespace sandgate {

// What happens to a sandbox at the end of its TTL or of its idle time.
enum class EndAction { kill, pause };
// Whether a directory of the host is visible inside; `workspace_path` says which.
enum class Workspace { isolated, read_only, read_write };
enum class Scope { session, agent, shared };
enum class Strategy { cheapest, fastest, priority, weighted };

inline constexpr Words kEndActionWords({Word{EndAction::kill, "kill"},
                                        Word{EndAction::pause, "pause"}});
inline constexpr Words kWorkspaceWords({Word{Workspace::isolated, "isolated"},
                                        Word{Workspace::read_only, "read_only"},
                                        Word{Workspace::read_write, "read_write"}});
inline constexpr Words kScopeWords({Word{Scope::session, "session"}, Word{Scope::agent, "agent"},
                                    Word{Scope::shared, "shared"}});
inline constexpr Words kStrategyWords({Word{Strategy::cheapest, "cheapest"},
                                       Word{Strategy::fastest, "fastest"},
                                       Word{Strategy::priority, "priority"},
                                       Word{Strategy::weighted, "weighted"}});

std::string_view to_string(EndAction action);
std::string_view to_string(Workspace workspace);
std::string_view to_string(Scope scope);
std::string_view to_string(Strategy strategy);

// How far a create may go beyond the profile's own resources and TTL; absent means not at all.
struct ProfileLimits {
  std::optional<int64_t> max_milli_vcpu, max_memory_mib, max_disk_gib, max_processes;
  std::optional<int64_t> max_ttl_seconds;
  bool operator==(const ProfileLimits&) const = default;
};

struct Fallback {
  int64_t attempts = 5;
  int64_t deadline_ms = 20'000;  // for the whole placement
  int64_t hedge_after_ms = 0;  // 0: never
  bool operator==(const Fallback&) const = default;
};

// Lists hold deployment names. An empty `only` or `regions` restricts nothing.
struct PlacementPolicy {
  Strategy strategy = Strategy::cheapest;
  std::vector<std::string> order;  // used by Strategy::priority
  std::map<std::string, int64_t> weights;  // used by Strategy::weighted, 0..10000
  std::vector<std::string> only, exclude;
  std::vector<std::string> regions;
  std::optional<std::string> max_cost_per_hour;  // exact decimal, > 0
  Fallback fallback;
  bool operator==(const PlacementPolicy&) const = default;
};

// The requirements of a workload. A value, immutable once published as a version. The defaults are
// those of a document that has only a `name`.
struct Profile {
  std::string name;
  std::string description;
  Isolation isolation = Isolation::container;  // minimum
  Persistence persistence = Persistence::ephemeral;
  std::string image = "debian-12";  // provider-neutral name
  std::map<std::string, std::string> images;  // provider -> its name of the image
  Resources resources;
  ProfileLimits limits;
  int64_t ttl_seconds = 600;
  EndAction on_expiry = EndAction::kill;
  int64_t idle_timeout_seconds = 300;  // 0: none
  EndAction on_idle = EndAction::kill;
  bool auto_resume = false;
  std::map<std::string, std::string> env;
  Workspace workspace = Workspace::isolated;
  std::string workspace_path;  // absolute, on the host; empty when isolated
  Scope scope = Scope::session;
  bool allow_root = false;
  bool allow_debug = false;
  NetworkPolicy network;
  std::vector<SecretBinding> secrets;
  std::set<Verb> requires_verbs;
  PlacementPolicy placement;
};

// The upper limits for a create of this profile.
Resources max_resources(const Profile& profile);
std::chrono::seconds max_ttl(const Profile& profile);

// The whole document with every default written out and absent limits as null. Equal profiles give
// equal documents, and parse_profile() reads it back to the same value.
Json to_json(const Profile& profile);
// SHA-256 of that document, to detect equal versions.
std::string content_hash(const Profile& profile);

// {"vcpu":…, "memory_mib":…, "disk_gib":…, "processes":…}, as everywhere in the API.
Json to_json(const Resources& resources);
// {"default":…, "allow":[…]}, as everywhere in the API.
Json to_json(const NetworkPolicy& network);
// Thousandths as a JSON number: whole numbers stay integers, quarters are exact in binary.
Json vcpu_json(int64_t milli_vcpu);

}  // namespace sandgate
