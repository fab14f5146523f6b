#pragma once
#include <memory>
#include <optional>
#include <string>

#include "gateway/core/notifications.hpp"
#include "gateway/core/refreshing_cache.hpp"
#include "registry/profile_store.hpp"

namespace sandgate {

struct ResolvedProfile {
  std::string name;
  int64_t id = 0;  // of the profile; stays when its name is given to another
  int64_t version = 0;
  std::optional<TenantId> owner;  // empty: the operator's
  std::shared_ptr<const Profile> profile;  // never null
  int64_t shadow_version = 0;
  std::shared_ptr<const Profile> shadow;  // null: no shadow for this create
};

// A cache that resolves a create's profile reference to a version without a database read: versions
// are immutable, and NOTIFY tells of changed names and channels. Thread-safe.
class ProfileResolver {
 public:
  // To be constructed before notifications.start(). Both arguments must outlive the resolver.
  ProfileResolver(ProfileStore& store, Notifications& notifications);

  // Resolves "name", "name@3" or "name@channel". `stickiness` (see stickiness_of) selects between a
  // channel's version and its canary; empty: at random. Throws Error(invalid) at "/profile" for a
  // malformed reference, Error(not_found) for an unknown or archived profile, channel or version.
  Task<ResolvedProfile> resolve(std::optional<TenantId> tenant, std::string reference,
                                std::string stickiness);

  // A version by the profile's id, also when the profile is archived or its name now means another
  // profile. Throws Error(not_found).
  Task<std::shared_ptr<const Profile>> version(int64_t profile_id, int64_t version);

  // To be called after a change made through this replica, so that it takes effect here at once.
  void changed(const std::optional<TenantId>& owner, std::string_view name);

 private:
  void topic_changed(const std::string& topic);
  Task<std::shared_ptr<const Profile>> version_of(std::shared_ptr<const ProfileHead> head,
                                                  int64_t version);

  RefreshingCache<ProfileHead> heads_;  // by profile_topic(tenant, name)
  RefreshingCache<Profile> versions_;  // by "<profile id>@<version>"
};

}  // namespace sandgate
