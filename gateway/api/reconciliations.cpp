#include "gateway/api/reconciliations.hpp"

#include "billing/reconciliation.hpp"

namespace sandgate::api {
namespace {

constexpr size_t kMaxReconciliationBytes = 32 << 20;

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
  const VendorReport report = vendor_report_from(request.json());
  const Json answer = co_await reconcile(database_, report);
  co_return http::Response::json(201, answer);
}

}  // namespace sandgate::api
