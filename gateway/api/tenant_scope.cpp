#include "gateway/api/tenant_scope.hpp"

namespace sandgate::api {

std::optional<TenantId> tenant_parameter(const http::Request& request) {
  const auto wanted = request.query.find("tenant");
  const auto& own = request.caller.tenant;
  if (!wanted) return own;
  auto id = TenantId::parse(*wanted);
  if (!id || (own && *own != *id)) throw Error::not_found("tenant", *wanted);
  return id;
}

TenantId tenant_of_path(const http::Request& request) {
  const std::string& text = request.param("id");
  auto id = TenantId::parse(text);
  const auto& own = request.caller.tenant;
  if (!id || (own && *own != *id)) throw Error::not_found("tenant", text);
  return *id;
}

}  // namespace sandgate::api
