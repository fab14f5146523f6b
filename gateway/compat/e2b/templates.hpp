#pragma once
#include "gateway/api/snapshots.hpp"
#include "registry/profile_resolver.hpp"

namespace sandgate::compat::e2b {

// What E2B's clients use as templates for sandboxes: profiles, which can be looked up by name, and
// snapshots.
class Templates {
 public:
  Templates(api::SnapshotHandlers& snapshots, ProfileResolver& profiles)
      : snapshots_(snapshots), profiles_(profiles) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> create(http::Request& request);
  Task<http::Response> list(http::Request& request);
  Task<http::Response> remove(http::Request& request);
  Task<http::Response> find_alias(http::Request& request);

 private:
  api::SnapshotHandlers& snapshots_;
  ProfileResolver& profiles_;
};

}  // namespace sandgate::compat::e2b
