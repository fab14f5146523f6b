#pragma once
#include "billing/budget_store.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// /v1/tenants/{id}/budgets and …/credits. The operator changes them; a tenant reads its own
// budgets.
class BudgetHandlers {
 public:
  explicit BudgetHandlers(BudgetStore& budgets) : budgets_(budgets) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);
  Task<http::Response> put(http::Request& request);
  Task<http::Response> remove(http::Request& request);
  Task<http::Response> add_credits(http::Request& request);

 private:
  BudgetStore& budgets_;
};

}  // namespace sandgate::api
