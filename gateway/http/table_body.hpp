#pragma once
#include "gateway/http/request.hpp"

namespace sandgate::http {

// The body of a route that takes an operator's tables (prices, a vendor's bill): as
// Request::json(), with as many values as the route's bytes have room for.
Json table_in(const Request& request);

}  // namespace sandgate::http
