#pragma once
#include <optional>

#include "gateway/core/time.hpp"
#include "gateway/http/query.hpp"

namespace sandgate::api {

// ?name as an RFC 3339 time, or a date for its first moment (UTC); empty when absent. Throws
// Error(invalid) with path "?name".
std::optional<Time> time_parameter(const http::Query& query, const std::string& name);

}  // namespace sandgate::api
