#pragma once
#include "gateway/core/database.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// /v1/reconciliations: what a vendor says against what was booked. The operator's.
class ReconciliationHandlers {
 public:
  explicit ReconciliationHandlers(Database& database) : database_(database) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> create(http::Request& request);

 private:
  Database& database_;
};

}  // namespace sandgate::api
