#pragma once
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "registry/profile_resolver.hpp"

namespace sandgate::api {

// POST /v1/routing/simulate: past requests of a profile against a draft of it.
class SimulationHandlers {
 public:
  SimulationHandlers(Lifecycle& lifecycle, ProfileResolver& profiles)
      : lifecycle_(lifecycle), profiles_(profiles) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> simulate(http::Request& request);

 private:
  Lifecycle& lifecycle_;
  ProfileResolver& profiles_;
};

}  // namespace sandgate::api
