#pragma once
#include <boost/asio/thread_pool.hpp>

#include "gateway/api/keyed_mutex.hpp"
#include "gateway/http/routes.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "registry/profile_resolver.hpp"

namespace sandgate::api {

// POST /v1/routing/simulate: replays past requests of a profile against a draft of it. On a thread
// of its own, because thousands of decisions take seconds; one simulation per tenant at a time.
class SimulationHandlers {
 public:
  SimulationHandlers(const Lifecycle& lifecycle, ProfileResolver& profiles)
      : parts_(lifecycle.parts()), profiles_(profiles) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> simulate(http::Request& request);

 private:
  const LifecycleParts& parts_;  // the lifecycle's
  ProfileResolver& profiles_;
  KeyedMutex mutex_;  // by tenant
  asio::thread_pool thread_{1};
};

}  // namespace sandgate::api
