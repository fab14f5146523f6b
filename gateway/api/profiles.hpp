#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gateway/http/routes.hpp"
#include "registry/profile_resolver.hpp"
#include "registry/profile_store.hpp"

namespace sandgate::api {

// /v1/profiles: publish, read, channels, rollback, diff. A tenant changes its own profiles and
// reads those and the operator's. An operator who acts for no tenant changes the shared ones.
class ProfileHandlers {
 public:
  // Returns warnings about a profile published for `owner` (empty: shared), for example that no
  // deployment satisfies it. Must not block; may be empty.
  using Warn = std::function<std::vector<std::string>(const Profile& profile,
                                                      const std::optional<TenantId>& owner)>;

  ProfileHandlers(ProfileStore& profiles, ProfileResolver& resolver, Warn warn)
      : profiles_(profiles), resolver_(resolver), warn_(std::move(warn)) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);
  Task<http::Response> publish(http::Request& request);
  Task<http::Response> get(http::Request& request);
  Task<http::Response> archive(http::Request& request);
  Task<http::Response> versions(http::Request& request);
  Task<http::Response> diff(http::Request& request);
  Task<http::Response> point(http::Request& request);
  Task<http::Response> rollback(http::Request& request);

 private:
  // Returns the profile of that name that the caller sees, or throws Error(not_found).
  Task<ProfileHead> head_of(const http::Request& request, std::string name);
  // The same, or else the archived one.
  Task<ProfileHead> kept_head_of(const http::Request& request, std::string name);
  // Returns a version by number or channel ("3", "stable"), or throws Error(not_found).
  Task<ProfileVersion> version_of(ProfileHead head, ProfileReference reference);
  Task<http::Response> move_channel(http::Request& request, std::string channel,
                                    ProfileChannel target);

  ProfileStore& profiles_;
  ProfileResolver& resolver_;
  Warn warn_;
};

}  // namespace sandgate::api
