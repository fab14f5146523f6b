#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gateway/http/routes.hpp"
#include "registry/profile_resolver.hpp"
#include "registry/profile_store.hpp"

namespace sandgate::api {

// /v1/profiles: publishing, reading, channels, rollback, diff. A tenant changes its own profiles
// and reads its own and the operator's; an operator without X-Sandgate-Tenant changes the shared.
class ProfileHandlers {
 public:
  // What should be said about a profile that is published for `owner` (empty: for all tenants),
  // say that no deployment satisfies it. Must not block; may be empty.
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
  // What the caller means by the name, or Error(not_found).
  Task<ProfileHead> head_of(const http::Request& request, std::string name);
  // A version by number or channel ("3", "stable").
  Task<ProfileVersion> version_of(ProfileHead head, ProfileReference reference);
  Task<http::Response> move_channel(http::Request& request, std::string channel,
                                    ProfileChannel target);

  ProfileStore& profiles_;
  ProfileResolver& resolver_;
  Warn warn_;
};

}  // namespace sandgate::api
