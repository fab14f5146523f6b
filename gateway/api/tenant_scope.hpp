#pragma once
#include <optional>

#include "gateway/http/request.hpp"

namespace sandgate::api {

// The tenant whose rows are requested: the caller's own, or for an operator ?tenant, the tenant it
// acts for, or (empty) all. Throws Error(not_found) if the caller may not see that tenant.
std::optional<TenantId> tenant_parameter(const http::Request& request);

// The {id} of a route below /v1/tenants. Throws Error(not_found) if the caller may not see that
// tenant.
TenantId tenant_of_path(const http::Request& request);

}  // namespace sandgate::api
