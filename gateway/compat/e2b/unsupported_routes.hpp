#pragma once
#include "gateway/http/routes.hpp"

namespace sandgate::compat::e2b {

// Answers calls of E2B's API that have no counterpart here with Error(unsupported): clients take
// not_found for a sandbox that is gone.
void add_unsupported_routes(http::Routes& routes);

}  // namespace sandgate::compat::e2b
