#pragma once
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "registry/profile_resolver.hpp"

namespace sandgate::api {

// Why a sandbox runs where it does, and where one would: GET …/decision, POST …/explain.
class DecisionHandlers {
 public:
  DecisionHandlers(Lifecycle& lifecycle, ProfileResolver& profiles)
      : lifecycle_(lifecycle), profiles_(profiles) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> get(http::Request& request);
  Task<http::Response> explain(http::Request& request);

 private:
  Lifecycle& lifecycle_;
  ProfileResolver& profiles_;
};

}  // namespace sandgate::api
