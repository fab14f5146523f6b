#pragma once
#include "billing/usage_reader.hpp"
#include "gateway/core/database.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// /v1/ledger and …/balances. A tenant sees the transfers that concern it and its own accounts.
class LedgerHandlers {
 public:
  LedgerHandlers(Database& database, UsageReader& usage) : database_(database), usage_(usage) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);
  Task<http::Response> balances(http::Request& request);

 private:
  Database& database_;
  UsageReader& usage_;
};

}  // namespace sandgate::api
