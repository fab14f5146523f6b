#pragma once
#include "gateway/http/routes.hpp"
#include "registry/tenant_store.hpp"

namespace sandgate::api {

// /v1/tenants: operators manage all; others see their own.
class TenantHandlers {
 public:
  explicit TenantHandlers(TenantStore& tenants) : tenants_(tenants) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> create(http::Request& request);
  Task<http::Response> list(http::Request& request);
  Task<http::Response> get(http::Request& request);
  Task<http::Response> change(http::Request& request);
  Task<http::Response> set_limits(http::Request& request);

 private:
  TenantStore& tenants_;
};

}  // namespace sandgate::api
