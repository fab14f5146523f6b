#include "gateway/api/existence_check.hpp"

#include "gateway/api/path_id.hpp"
#include "gateway/api/tenant_scope.hpp"

namespace sandgate::api {

Task<void> ExistenceCheck::check(const http::Request& request) {
  const auto is_below = [&](std::string_view pattern) {
    return request.route.starts_with(pattern);
  };
  const auto& tenant = request.caller.tenant;
  if (is_below("/v1/tenants/{id}")) co_return co_await check_tenant(request);
  if (is_below("/v1/keys/{id}")) co_return co_await check_key(request);
  if (is_below("/v1/invoices/{id}")) co_return co_await check_invoice(request);
  if (!tenant) co_return;
  if (is_below("/v1/sandboxes/{id}")) {
    co_await stores_.lifecycle.get(*tenant, path_id<SandboxId>(request, "sandbox"));
  } else if (is_below("/v1/snapshots/{id}")) {
    co_await snapshots_.find(*tenant, path_id<SnapshotId>(request, "snapshot"));
  }
}

Task<void> ExistenceCheck::check_tenant(const http::Request& request) {
  const auto id = path_id<TenantId>(request, "tenant");
  // An operator may change any tenant. Below a tenant, it sees only the tenant it acts for, if any.
  const bool is_itself =
      request.route == "/v1/tenants/{id}" || request.route == "/v1/tenants/{id}/limits";
  if (!request.caller.is_operator() || !is_itself) tenant_of_path(request);
  const auto tenant = co_await stores_.tenants.find(id);
  if (!tenant) throw Error::not_found("tenant", id.value);
}

Task<void> ExistenceCheck::check_key(const http::Request& request) {
  const auto id = path_id<KeyId>(request, "key");
  const auto key = co_await stores_.keys.find(id);
  const auto& own = request.caller.tenant;
  if (!key || (own && key->tenant != own)) throw Error::not_found("key", id.value);
}

Task<void> ExistenceCheck::check_invoice(const http::Request& request) {
  const std::string& text = request.param("id");
  const auto id = InvoiceId::parse(text.substr(0, text.find('.')));  // also with ".csv" or ".html"
  if (!id) throw Error::not_found("invoice", text);
  const Invoice invoice = co_await stores_.invoices.get(*id);
  const auto& own = request.caller.tenant;
  if (own && *own != invoice.tenant) throw Error::not_found("invoice", id->value);
}

}  // namespace sandgate::api
