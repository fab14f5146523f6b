#include "gateway/api/budgets.hpp"

#include "billing/currency.hpp"
#include "gateway/api/audit.hpp"
#include "gateway/api/named_resource.hpp"
#include "gateway/api/tenant_scope.hpp"
#include "gateway/core/document_reader.hpp"
#include "registry/document_fields.hpp"

namespace sandgate::api {
namespace {

constexpr int64_t kMaxCredits = 1'000'000'000'000;

std::string name_of(const http::Request& request) {
  const std::string& name = request.param("name");
  check_name(name, "a budget");
  return name;
}

struct Credits {
  Money money;
  std::string reason;
};

Credits credits_from(const Json& body) {
  DocumentReader reader(body);
  Credits credits;
  reader.require("amount");
  reader.require("reason");
  credits.reason = reader.text("reason", {.min = 1, .max = 500}).value_or("");
  credits.money.currency = reader.text("currency", {.max = 8}).value_or("USD");
  const auto digits = minor_digits(credits.money.currency);
  if (!digits) reader.problem("currency", kUnknownCurrency);
  if (const auto text = reader.text("amount", {.min = 1, .max = 64})) {
    const auto amount = Decimal::parse(*text);
    if (!amount || amount->is_zero() || *amount > Decimal(kMaxCredits))
      reader.problem("amount",
                     "must be a decimal as a string, more than zero, at most 10^12 and with at most"
                     " 18 digits after the point");
    else if (digits && amount->rounded(*digits) != *amount)
      reader.problem("amount", "has more digits than the currency's minor unit");
    credits.money.amount = amount.value_or(Decimal());
  }
  reader.finish_or_throw();
  return credits;
}

}  // namespace

void BudgetHandlers::add_routes(http::Routes& routes) {
  using http::Method;
  NamedRoutes named(routes, *this, http::Permission::read_billing, http::Permission::operate);
  named.add(Method::get, "/v1/tenants/{id}/budgets", &BudgetHandlers::list);
  named.add(Method::put, "/v1/tenants/{id}/budgets/{name}", &BudgetHandlers::put);
  named.add(Method::delete_, "/v1/tenants/{id}/budgets/{name}", &BudgetHandlers::remove);
  routes.add({.method = Method::post,
              .pattern = "/v1/tenants/{id}/credits",
              .permission = http::Permission::operate,
              .body = http::BodyMode::buffered,
              .handler = [this](http::Request& request) { return add_credits(request); },
              .idempotent_create = true});
}

Task<http::Response> BudgetHandlers::list(http::Request& request) {
  const TenantId tenant = tenant_of_path(request);
  const PageRequest page = read_page(request, 1);
  const auto budgets = co_await budgets_.list(tenant);
  const auto render = [](const Budget& budget) { return to_json(budget); };
  const auto key = [](const Budget& budget) { return std::vector{budget.name}; };
  co_return http::Response::json(200, page_of_all(page, budgets, render, key));
}

Task<http::Response> BudgetHandlers::put(http::Request& request) {
  const TenantId tenant = tenant_of_path(request);
  const Budget wanted = budget_from(request.json(), tenant, name_of(request));
  const auto& profile = wanted.applies_to.profile;
  if (profile && !is_name(*profile))
    throw Error::invalid("/applies_to/profile", "must be the name of a profile, without a version");
  const ChangeTrail trail = trail_of(request, tenant, "budget.set", wanted.name);
  // A budget counts what is booked.
  co_await usage_.refresh(tenant);
  const Budget budget = co_await budgets_.put(wanted, trail);
  co_return http::Response::json(200, to_json(budget));
}

Task<http::Response> BudgetHandlers::remove(http::Request& request) {
  const TenantId tenant = tenant_of_path(request);
  const std::string name = name_of(request);
  const ChangeTrail trail = trail_of(request, tenant, "budget.delete", name);
  co_await budgets_.remove(tenant, name, trail);
  co_return http::Response::empty(204);
}

Task<http::Response> BudgetHandlers::add_credits(http::Request& request) {
  const TenantId tenant = tenant_of_path(request);
  const Credits credits = credits_from(request.json());
  const ChangeTrail trail = trail_of(request, tenant, "credits.add", tenant.value);
  const Money balance = co_await budgets_.add_credits(tenant, credits.money, credits.reason, trail);
  co_return http::Response::json(201, {{"tenant", tenant.value},
                                       {"amount", credits.money.amount.to_string()},
                                       {"currency", balance.currency},
                                       {"reason", credits.reason},
                                       {"balance", balance.amount.to_string()}});
}

}  // namespace sandgate::api
