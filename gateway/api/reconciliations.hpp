#pragma once
#include "gateway/core/database.hpp"
#include "gateway/http/routes.hpp"
#include "gateway/placement/deployments.hpp"

namespace sandgate::api {

// /v1/reconciliations: what a vendor says against what was booked. The operator's.
class ReconciliationHandlers {
 public:
  ReconciliationHandlers(Database& database, const Deployments& deployments)
      : database_(database), deployments_(deployments) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> create(http::Request& request);

 private:
  Database& database_;
  const Deployments& deployments_;
};

}  // namespace sandgate::api
