#pragma once
#include <optional>

#include "gateway/core/time.hpp"
#include "gateway/http/message.hpp"

// What several billing resources read from a query.
namespace sandgate::api {

// ?name as an RFC 3339 time, or a date for its first moment (UTC); empty when absent. Throws
// Error(invalid) with path "?name".
std::optional<Time> time_parameter(const http::Query& query, const std::string& name);

// Whose rows the caller asks for: a tenant's key its own, an operator ?tenant, or the tenant it
// acts for, or (empty) all. Throws Error(not_found) for another tenant's.
std::optional<TenantId> tenant_parameter(const http::Request& request);

// {id} of a route below /v1/tenants, if the caller may see that tenant. Throws Error(not_found).
TenantId tenant_of_path(const http::Request& request);

}  // namespace sandgate::api
