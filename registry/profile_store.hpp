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

// A profile's name, channels and newest version number, without its documents.
struct ProfileHead {
  int64_t id = 0;
  std::optional<TenantId> owner;  // empty: the operator's, shared by all tenants
  std::string name;
  std::optional<std::string> description;  // of the version in force; empty: none is
  int64_t latest = 0;
  std::map<std::string, ProfileChannel> channels;
  Time created_at;
};

struct ProfileVersion {
  int64_t version = 0;
  Time created_at;
  std::string created_by;  // id of the API key; empty: the operator key of the environment
  Profile profile;
};

// A version in a list, without its document, which may have 256 KiB.
struct ListedVersion {
  int64_t version = 0;
  Time created_at;
  std::string created_by;  // as in ProfileVersion
};

struct Published {
  ProfileVersion version;
  bool changed = false;  // false: an existing version has the same content
};

// NOTIFY channel of profiles; the payload is profile_topic(owner, name).
inline constexpr char kProfilesChannel[] = "profiles";
std::string profile_topic(const std::optional<TenantId>& owner, std::string_view name);

// Profiles, their versions and channels in PostgreSQL; an empty `owner` is the operator. Versions
// are immutable. An archived profile is not found, but its versions can be read, and numbering
// continues when the name is published again, without the channels it had. Changes throw
// Error(not_found) when the owner has no such profile.
class ProfileStore {
 public:
  // Counts archived profiles, because their versions stay.
  static constexpr int64_t kMaxPerTenant = 1000, kMaxVersions = 10'000;
  // Of a profile; every ProfileHead has them all.
  static constexpr int64_t kMaxChannels = 100;

  explicit ProfileStore(Database& database) : database_(database) {}

  // Creates a version, unless the one that `channel` points at or the newest has the same content,
  // and points `channel` at it (empty: none), which ends a canary and a shadow there. Throws
  // Error(quota_exceeded) beyond kMaxPerTenant profiles, kMaxVersions or kMaxChannels.
  Task<Published> publish(std::optional<TenantId> owner, Profile profile, std::string channel,
                          Actor actor);
  // Points a channel at versions. Throws Error(invalid) for versions that do not exist,
  // Error(quota_exceeded) for a new channel beyond kMaxChannels.
  Task<ProfileHead> set_channel(std::optional<TenantId> owner, std::string name,
                                std::string channel, ProfileChannel target, Actor actor);
  Task<void> archive(std::optional<TenantId> owner, std::string name, Actor actor);

  // The profile that the name means for `tenant`: its own, else the operator's.
  Task<std::optional<ProfileHead>> find(std::optional<TenantId> tenant, std::string name);
  // The same for reading history: where no profile has the name, the archived one.
  Task<std::optional<ProfileHead>> find_with_archived(std::optional<TenantId> tenant,
                                                      std::string name);
  // By name, after `after`. For a tenant: its own profiles, and the operator's except names it has
  // itself.
  Task<std::vector<ProfileHead>> list(std::optional<TenantId> tenant, std::string after,
                                      int64_t limit);
  Task<std::optional<ProfileVersion>> version(int64_t profile_id, int64_t version);
  // Newest first, only versions below `below` when given.
  Task<std::vector<ListedVersion>> versions(int64_t profile_id, std::optional<int64_t> below,
                                            int64_t limit);

 private:
  Database& database_;
};

}  // namespace sandgate
