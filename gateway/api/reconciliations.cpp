#include "gateway/api/reconciliations.hpp"

#include "billing/currency.hpp"
#include "billing/ledger/reconciliation.hpp"
#include "gateway/http/table_body.hpp"

namespace sandgate::api {
namespace {

constexpr size_t kMaxReconciliationBytes = 32 << 20;

// Reads JSON, or CSV with the deployment, the period and perhaps the currency in the query.
VendorReport report_in(const http::Request& request) {
  const auto type = request.headers.find("Content-Type");
  if (!type || !type->starts_with("text/csv")) return vendor_report_from(http::table_in(request));
  const auto asked = [&](const char* name) {
    const auto value = request.query.find(name);
    if (!value) throw Error::invalid(std::string("/") + name, "is required");
    return *value;
  };
  const auto currency = request.query.find("currency");
  if (currency && !minor_digits(*currency)) throw Error::invalid("/currency", kUnknownCurrency);
  return vendor_report_from_csv(request.body, asked("deployment"), asked("period"), currency);
}

}  // namespace

void ReconciliationHandlers::add_routes(http::Routes& routes) {
  routes.add({.method = http::Method::post,
              .pattern = "/v1/reconciliations",
              .permission = http::Permission::operate,
              .body = http::BodyMode::buffered,
              .handler = [this](http::Request& request) { return create(request); },
              .max_body_bytes = kMaxReconciliationBytes,
              .idempotent_create = true});
}

Task<http::Response> ReconciliationHandlers::create(http::Request& request) {
  const VendorReport report = report_in(request);
  const auto known = deployments_.snapshot();
  const bool configured =
      std::ranges::any_of(*known, [&](const auto& one) { return one->name == report.deployment; });
  if (!configured) {
    const bool once_used = co_await was_metered(database_, report.deployment);
    if (!once_used) throw Error::not_found("deployment", report.deployment);
  }
  co_await usage_.book_ends(std::nullopt);
  const Json answer = co_await reconcile(database_, report);
  co_return http::Response::json(200, answer);
}

}  // namespace sandgate::api
