#pragma once
#include "gateway/api/ordering.hpp"
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/creating/scopes.hpp"
#include "gateway/sandboxes/creating/shadowing.hpp"
#include "gateway/sandboxes/extending.hpp"
#include "gateway/sandboxes/snapshots.hpp"
#include "registry/profile_resolver.hpp"

namespace sandgate::api {

// /v1/sandboxes: create, list, get, delete, extend, metrics.
class SandboxHandlers {
 public:
  SandboxHandlers(Lifecycle& lifecycle, ProfileResolver& profiles)
      : lifecycle_(lifecycle),
        profiles_(profiles),
        extending_(lifecycle),
        snapshots_(lifecycle),
        scopes_(lifecycle),
        shadowing_(lifecycle) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> create(http::Request& request);
  // The same for another API, whose requests mean more or less than a body says.
  Task<http::Response> create_fitted(http::Request& request, FitToProfile fit);
  Task<http::Response> list(http::Request& request);
  Task<http::Response> get(http::Request& request);
  Task<http::Response> remove(http::Request& request);
  Task<http::Response> extend(http::Request& request);
  Task<http::Response> metrics(http::Request& request);

 private:
  Task<std::optional<SandboxRecord>> take_up(const http::Request& request);

  Lifecycle& lifecycle_;
  ProfileResolver& profiles_;
  Extending extending_;
  Snapshots snapshots_;
  Scopes scopes_;
  Shadowing shadowing_;
};

// The id in the path; throws Error(not_found) if it is malformed.
SandboxId sandbox_id_of(const http::Request& request);

}  // namespace sandgate::api
