#pragma once
#include "billing/budgets/budget_store.hpp"
#include "billing/usage/usage_reader.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// /v1/tenants/{id}/budgets and …/credits. The operator changes them; a tenant reads its own
// budgets.
class BudgetHandlers {
 public:
  BudgetHandlers(BudgetStore& budgets, UsageReader& usage) : budgets_(budgets), usage_(usage) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);
  Task<http::Response> put(http::Request& request);
  Task<http::Response> remove(http::Request& request);
  Task<http::Response> add_credits(http::Request& request);

 private:
  BudgetStore& budgets_;
  UsageReader& usage_;
};

}  // namespace sandgate::api
