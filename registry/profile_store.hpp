#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/database.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/core/time.hpp"
#include "registry/audit_log.hpp"
#include "registry/profile.hpp"
#include "registry/profile_channel.hpp"

namespace sandgate {

// A profile without its documents.
struct ProfileHead {
  int64_t id = 0;
  std::optional<TenantId> owner;  // empty: the operator's, shared
  std::string name;
  int64_t latest = 0;
  std::map<std::string, ProfileChannel> channels;
  Time created_at;
};

struct ProfileVersion {
  int64_t version = 0;
  Time created_at;
  std::string created_by;  // id of the key; empty: the operator key of the environment
  Profile profile;
};

struct Published {
  ProfileVersion version;
  bool changed = false;  // false: the newest version was the same already
};

// NOTIFY channel of profiles; the payload is profile_topic(owner, name).
inline constexpr char kProfilesChannel[] = "profiles";
std::string profile_topic(const std::optional<TenantId>& owner, std::string_view name);

// Profiles in PostgreSQL. `owner` empty means the operator's. Versions are never changed; archived
// profiles are not found, but their versions stay and their numbers go on when the name returns.
// What changes something throws Error(not_found) when the owner has no such profile.
class ProfileStore {
 public:
  // Archived ones included, because their versions stay.
  static constexpr int64_t kMostPerTenant = 1000, kMostVersions = 10'000;

  explicit ProfileStore(Database& database) : database_(database) {}

  // Makes a new version unless that in force on `channel` or the newest is the same, and points
  // `channel` at it (empty: none), ending a canary and a shadow there. Throws
  // Error(quota_exceeded) for one profile of a tenant, or one version, too many.
  Task<Published> publish(std::optional<TenantId> owner, Profile profile, std::string channel,
                          Actor actor);
  // Throws Error(invalid) for versions that do not exist.
  Task<ProfileHead> point(std::optional<TenantId> owner, std::string name, std::string channel,
                          ProfileChannel target, Actor actor);
  Task<void> archive(std::optional<TenantId> owner, std::string name, Actor actor);

  // What `tenant` means by the name: its own, else the operator's.
  Task<std::optional<ProfileHead>> find(std::optional<TenantId> tenant, std::string name);
  // By name, after `after`; with a tenant its own and the operator's that it does not shadow.
  Task<std::vector<ProfileHead>> list(std::optional<TenantId> tenant, std::string after,
                                      int64_t limit);
  Task<std::optional<ProfileVersion>> version(int64_t profile_id, int64_t version);
  // Newest first, those below `below` when given.
  Task<std::vector<ProfileVersion>> versions(int64_t profile_id, std::optional<int64_t> below,
                                             int64_t limit);

 private:
  Database& database_;
};

}  // namespace sandgate
