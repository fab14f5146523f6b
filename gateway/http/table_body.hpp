#pragma once
#include "gateway/http/request.hpp"

namespace sandgate::http {

// Parses the body of a route for operators' tables (prices, a vendor's bill). Like Request::json(),
// but without the limit on the number of values.
Json table_in(const Request& request);

}  // namespace sandgate::http
