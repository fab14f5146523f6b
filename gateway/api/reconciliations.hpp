#pragma once
#include "billing/usage/usage_reader.hpp"
#include "gateway/core/database.hpp"
#include "gateway/http/routes.hpp"
#include "gateway/placement/deployments.hpp"

namespace sandgate::api {

// /v1/reconciliations: compares a vendor's bill with the recorded usage. Operators only.
class ReconciliationHandlers {
 public:
  ReconciliationHandlers(Database& database, UsageReader& usage, const Deployments& deployments)
      : database_(database), usage_(usage), deployments_(deployments) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> create(http::Request& request);

 private:
  Database& database_;
  UsageReader& usage_;
  const Deployments& deployments_;
};

}  // namespace sandgate::api
