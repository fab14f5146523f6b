#pragma once
#include "gateway/core/database.hpp"
#include "gateway/core/report_places.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// /v1/ledger. A tenant sees transfers that concern it and its own accounts.
class LedgerHandlers {
 public:
  explicit LedgerHandlers(Database& database) : database_(database) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);
  Task<http::Response> balances(http::Request& request);

 private:
  Database& database_;
  ReportPlaces places_;
};

}  // namespace sandgate::api
