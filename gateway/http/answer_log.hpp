#pragma once
#include "gateway/core/tenant_log_limiter.hpp"
#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"

namespace sandgate::http {

// Logs an answer if it failed, as often as `pace` lets the request's tenant, or if `all` are to be.
void log_answer(const Request& request, const Response& response, bool all, TenantLogLimiter& pace);

}  // namespace sandgate::http
