#pragma once
#include "gateway/api/keyed_mutex.hpp"
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "registry/profile_resolver.hpp"

namespace sandgate::api {

// /v1/sandboxes/{id}/network: a running sandbox's network policy and its latest verdicts.
class NetworkHandlers {
 public:
  NetworkHandlers(Lifecycle& lifecycle, ProfileResolver& profiles)
      : lifecycle_(lifecycle), profiles_(profiles) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> get(http::Request& request);
  Task<http::Response> put(http::Request& request);

 private:
  struct Found {
    SandboxRecord record;
    DeploymentPtr deployment;
  };
  Task<Found> find(http::Request& request);
  // Sets the policy at the backend, then notes for copies what was asked for.
  Task<std::monostate> apply(Found found, NetworkPolicy policy, Json asked);

  Lifecycle& lifecycle_;
  ProfileResolver& profiles_;
  KeyedMutex mutex_;  // by sandbox: of two changes, the later one is in its row and at its backend
};

}  // namespace sandgate::api
