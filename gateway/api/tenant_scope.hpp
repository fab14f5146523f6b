#pragma once
#include <optional>

#include "gateway/http/request.hpp"

namespace sandgate::api {

// Whose rows the caller asks for: a tenant's key its own, an operator ?tenant, or the tenant it
// acts for, or (empty) all. Throws Error(not_found) for another tenant's.
std::optional<TenantId> tenant_parameter(const http::Request& request);

// {id} of a route below /v1/tenants, if the caller may see that tenant. Throws Error(not_found).
TenantId tenant_of_path(const http::Request& request);

}  // namespace sandgate::api
