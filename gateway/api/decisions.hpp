#pragma once
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/creating/create_order.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/snapshots.hpp"
#include "registry/profile_resolver.hpp"

namespace sandgate::api {

// Placement decisions: GET /v1/sandboxes/{id}/decision tells why a sandbox runs where it does, POST
// /v1/profiles/{name}/explain where a create would run.
class DecisionHandlers {
 public:
  DecisionHandlers(Lifecycle& lifecycle, ProfileResolver& profiles)
      : lifecycle_(lifecycle), snapshots_(lifecycle), profiles_(profiles) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> get(http::Request& request);
  Task<http::Response> explain(http::Request& request);

 private:
  Task<CreateOrder> order_of(http::Request& request, Json wanted);

  Lifecycle& lifecycle_;
  Snapshots snapshots_;
  ProfileResolver& profiles_;
};

}  // namespace sandgate::api
