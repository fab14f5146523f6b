#pragma once
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "registry/profile_resolver.hpp"

namespace sandgate::api {

// GET /v1/providers lists the deployments that the caller can use. GET /v1/descriptor describes
// this gateway as a backend of another gateway.
class ProviderHandlers {
 public:
  ProviderHandlers(const Lifecycle& lifecycle, ProfileResolver& profiles)
      : lifecycle_(lifecycle), profiles_(profiles) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);
  Task<http::Response> descriptor(http::Request& request);

 private:
  const Lifecycle& lifecycle_;
  ProfileResolver& profiles_;
};

}  // namespace sandgate::api
