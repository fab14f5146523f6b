#include "gateway/api/tenants.hpp"

#include "gateway/api/audit.hpp"
#include "gateway/api/page.hpp"
#include "gateway/api/path_id.hpp"
#include "gateway/core/document_reader.hpp"

namespace sandgate::api {
namespace {

constexpr int64_t kMaxLimit = 1'000'000'000;

TenantId id_of(const http::Request& request) { return path_id<TenantId>(request, "tenant"); }

Json tenant_json(const Tenant& tenant) { return to_json(tenant); }

TenantLimits limits_from(const Json& body) {
  DocumentReader reader(body);
  TenantLimits limits{.max_running = reader.integer("max_running", 0, kMaxLimit),
                      .max_milli_vcpu = reader.quarter_steps("max_vcpu", 0, kMaxLimit),
                      .creates_per_minute = reader.integer("creates_per_minute", 0, kMaxLimit),
                      .requests_per_second = reader.integer("requests_per_second", 1, kMaxLimit)};
  reader.finish_or_throw();
  return limits;
}

}  // namespace

void TenantHandlers::add_routes(http::Routes& routes) {
  using http::Method;
  const auto add = [&](Method method, const char* pattern, http::Permission permission,
                       auto handler) {
    routes.add({.method = method,
                .pattern = pattern,
                .permission = permission,
                .body = method == Method::get ? http::BodyMode::none : http::BodyMode::buffered,
                .handler = std::bind_front(handler, this),
                .idempotent_create = method == Method::post,
                .location_prefix = method == Method::post ? "/v1/tenants/" : ""});
  };
  add(Method::post, "/v1/tenants", http::Permission::operate, &TenantHandlers::create);
  add(Method::get, "/v1/tenants", http::Permission::read, &TenantHandlers::list);
  add(Method::get, "/v1/tenants/{id}", http::Permission::read, &TenantHandlers::get);
  add(Method::patch, "/v1/tenants/{id}", http::Permission::operate, &TenantHandlers::change);
  add(Method::put, "/v1/tenants/{id}/limits", http::Permission::operate,
      &TenantHandlers::set_limits);
}

Task<http::Response> TenantHandlers::create(http::Request& request) {
  const Json body = request.json();
  DocumentReader reader(body);
  reader.require("name");
  const auto name = reader.text("name", kGivenName);
  reader.finish_or_throw();
  auto creating = tenants_.create(*name, actor_of(request));
  const Tenant tenant = co_await std::move(creating);
  co_return http::Response::json(201, to_json(tenant));
}

Task<http::Response> TenantHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 2);
  std::vector<Tenant> rows;
  if (request.caller.is_operator()) {
    std::optional<std::pair<Time, std::string>> after;
    if (!page.after.empty()) after = {page.time_after(0), page.after[1]};
    auto reading = tenants_.list(std::move(after), page.rows_to_fetch());
    rows = co_await std::move(reading);
  } else if (page.after.empty()) {
    auto reading = tenants_.find(request.tenant());
    if (const auto own = co_await std::move(reading)) rows.push_back(*own);
  }
  const auto key = [](const Tenant& tenant) {
    return std::vector{to_rfc3339(tenant.created_at), tenant.id.value};
  };
  co_return http::Response::json(200, page_json(page, rows, tenant_json, key));
}

Task<http::Response> TenantHandlers::get(http::Request& request) {
  const TenantId id = id_of(request);
  const bool visible = request.caller.is_operator() || request.caller.tenant == id;
  if (!visible) throw Error::not_found("tenant", id.value);
  auto reading = tenants_.find(id);
  const auto tenant = co_await std::move(reading);
  if (!tenant) throw Error::not_found("tenant", id.value);
  co_return http::Response::json(200, to_json(*tenant));
}

Task<http::Response> TenantHandlers::change(http::Request& request) {
  const Json body = request.json();
  DocumentReader reader(body);
  TenantChange change{.name = reader.text("name", kGivenName),
                      .suspended = reader.boolean("suspended")};
  reader.finish_or_throw();
  auto changing = tenants_.change(id_of(request), std::move(change), actor_of(request));
  const Tenant tenant = co_await std::move(changing);
  co_return http::Response::json(200, to_json(tenant));
}

Task<http::Response> TenantHandlers::set_limits(http::Request& request) {
  auto changing =
      tenants_.set_limits(id_of(request), limits_from(request.json()), actor_of(request));
  const Tenant tenant = co_await std::move(changing);
  co_return http::Response::json(200, to_json(tenant));
}

}  // namespace sandgate::api
