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
  int64_t id = 0;  // of the profile, whatever becomes of its name
  int64_t version = 0;
  std::optional<TenantId> owner;  // empty: the operator's
  std::shared_ptr<const Profile> profile;  // never null
  int64_t shadow_version = 0;
  std::shared_ptr<const Profile> shadow;  // null: no shadow for this create
};

// From what a create names to a profile version, without asking the database each time: versions
// never change, and where names and channels point is told by NOTIFY.
class ProfileResolver {
 public:
  // Before notifications.start(); both must outlive the resolver.
  ProfileResolver(ProfileStore& store, Notifications& notifications);

  // `reference`: "name", "name@3" or "name@channel". `stickiness`: see stickiness_of; empty takes
  // its chance between a channel's version and its canary. Error(invalid) with path "/profile" for
  // what is no reference, Error(not_found) for what does not exist or is archived.
  Task<ResolvedProfile> resolve(std::optional<TenantId> tenant, std::string reference,
                                std::string stickiness);

  // What something was made with, by the profile's id: also when it is archived, or when the name
  // is another profile's for the tenant by now. Throws Error(not_found).
  Task<std::shared_ptr<const Profile>> version(int64_t profile_id, int64_t version);

  // After a change made through this replica, so that it is seen here at once.
  void changed(const std::optional<TenantId>& owner, std::string_view name);

 private:
  void topic_changed(const std::string& topic);
  Task<std::shared_ptr<const Profile>> version_of(std::shared_ptr<const ProfileHead> head,
                                                  int64_t version);

  RefreshingCache<ProfileHead> heads_;  // by profile_topic(tenant, name)
  RefreshingCache<Profile> versions_;  // by "<profile id>@<version>"
};

}  // namespace sandgate
