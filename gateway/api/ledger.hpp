#pragma once
#include "billing/usage/usage_reader.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// /v1/ledger and …/balances. A tenant sees the transfers that concern it and its own accounts.
class LedgerHandlers {
 public:
  explicit LedgerHandlers(UsageReader& usage) : usage_(usage) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);
  Task<http::Response> balances(http::Request& request);

 private:
  UsageReader& usage_;
};

}  // namespace sandgate::api
