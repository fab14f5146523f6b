#pragma once
#include <boost/asio/thread_pool.hpp>

#include "billing/prices/price_books.hpp"
#include "gateway/api/keyed_mutex.hpp"
#include "gateway/http/routes.hpp"
#include "gateway/placement/deployments.hpp"
#include "registry/profile_resolver.hpp"

namespace sandgate::api {

// POST /v1/routing/simulate: replays past requests of a profile against a draft of it. On a thread
// of its own, because thousands of decisions take seconds; one simulation per tenant at a time.
class SimulationHandlers {
 public:
  struct Parts {
    ProfileResolver& profiles;
    Database& database;
    const Deployments& deployments;
    const PriceBooks& prices;
    const Clock& clock;
    bool price_required = false;  // backends without a known price are not eligible
  };
  explicit SimulationHandlers(Parts parts) : parts_(parts) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> simulate(http::Request& request);

 private:
  const Parts parts_;
  KeyedMutex mutex_;  // by tenant
  asio::thread_pool thread_{1};
};

}  // namespace sandgate::api
