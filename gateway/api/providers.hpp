#pragma once
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "registry/profile_resolver.hpp"

namespace sandgate::api {

// What sandboxes can run on: GET /v1/providers, and for other gateways GET /v1/descriptor.
class ProviderHandlers {
 public:
  ProviderHandlers(Lifecycle& lifecycle, ProfileResolver& profiles)
      : lifecycle_(lifecycle), profiles_(profiles) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);
  Task<http::Response> descriptor(http::Request& request);

 private:
  Lifecycle& lifecycle_;
  ProfileResolver& profiles_;
};

}  // namespace sandgate::api
